"""Tables: one whose search, order and pages are computed by the API, one with all rows in the page,
and one of configuration values with edit and the difference to the default.

Cells show text. A column with `link` shows a link whose target is made from the row; a column with
`kind` shows bytes, counts or rates in a readable form. Vue inserts contents of the cluster as text,
never as HTML.

Links and buttons of cells are NiceGUI elements, not part of a template. NiceGUI makes a new Vue
component of a template whenever something on the page changes, so Vue replaces all that is in it.
The browser sends no click if an element is replaced between the press and the release of the mouse
button, and a replaced element loses the focus of the keyboard.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from nicegui import ui

from barnabas.console.actions.action import Action
from barnabas.console.api_client import ApiCallError, JsonObject
from barnabas.console.pages.dialogs import ActionDialog, text_field
from barnabas.console.pages.view import View, error_text, notify_error
from barnabas.console.security.identity import Role

ROWS_PER_PAGE = 25
_ROW = "row_number"
_SEARCH_DEBOUNCE_MS = 300

_FORMATS = {
    "text": "{{ props.value }}",
    "time": "{{ props.value ? props.value.slice(0, 19).replace('T', ' ') : '-' }}",
    "count": "{{ props.value === null ? '-' : props.value.toLocaleString('en-US') }}",
    "rate": (
        "{{ props.value === null ? '-' : "
        "props.value.toLocaleString('en-US', {maximumFractionDigits: 1}) + '/s' }}"
    ),
    "seconds": (
        "{{ props.value === null ? '-' : "
        "props.value < 60 ? Number(props.value.toPrecision(3)) + ' s' : "
        "props.value < 3600 ? Math.floor(props.value / 60) + ' min' : "
        "props.value < 86400 ? (props.value / 3600).toFixed(1) + ' h' : "
        "(props.value / 86400).toFixed(1) + ' d' }}"
    ),
    "bytes": (
        "{{ props.value === null ? '-' : props.value < 1024 ? props.value + ' B' : "
        "(i => (props.value / 1024 ** i).toFixed(1) + ' ' + ['', 'KiB', 'MiB', 'GiB', 'TiB', "
        "'PiB'][i])(Math.min(5, Math.floor(Math.log2(props.value) / 10))) }}"
    ),
}
MakeChange = Callable[[Mapping[str, str], Sequence[str]], Action]
"""Takes values to set and keys to reset."""

_COLUMNS: list[dict[str, object]] = [
    {"name": "name", "label": "Key", "field": "name", "align": "left", "sortable": True},
    {"name": "value", "label": "Value", "field": "value", "align": "left"},
    {"name": "default", "label": "Default", "field": "default", "align": "left"},
    {"name": "source", "label": "Source", "field": "source", "align": "left", "sortable": True},
]
_EDIT_COLUMN: dict[str, object] = {
    "name": "edit",
    "label": "Edit",
    "field": "name",
    "align": "left",
}
_VALUE_CELL = (
    "<q-td :props=\"props\" :class=\"props.row.is_default ? '' : 'text-weight-bold'\">"
    "{{ props.row.sensitive ? 'hidden' : props.value }}</q-td>"
)


@dataclass(frozen=True, slots=True)
class TableColumn:
    """A column of a table.

    `link` is the path of a page; the encoded value of the cell is appended to it.
    """

    name: str
    label: str
    kind: Literal["text", "count", "rate", "seconds", "bytes", "time"] = "text"
    link: str | None = None
    link_suffix: str = ""
    """An expression in JavaScript on `props.row`, in single quotes."""
    sortable: bool = True
    warn: bool = False
    """Show a value other than 0 in the colour of warnings."""

    def definition(self) -> dict[str, object]:
        align = "left" if self.kind in ("text", "time") else "right"
        return {
            "name": self.name,
            "label": self.label,
            "field": self.name,
            "align": align,
            "sortable": self.sortable,
        }

    def add_cells(self, table: ui.table) -> None:
        """Adds the slot for the cells of the column to its table."""
        if self.link is not None:
            suffix = f" + ({self.link_suffix})" if self.link_suffix else ""
            target = f"'{self.link}' + encodeURIComponent(props.value){suffix}"
            link_cells(table, self.name, target, "console-name")
        else:
            table.add_slot(f"body-cell-{self.name}", self._template())

    def _template(self) -> str:
        warn = (
            " :class=\"props.value ? 'text-negative text-weight-bold' : ''\"" if self.warn else ""
        )
        look = ' style="white-space: nowrap"' if self.kind != "text" else ""
        return f'<q-td :props="props"{warn}{look}>{_FORMATS[self.kind]}</q-td>'


def link_cells(table: ui.table, column: str, target: str, classes: str = "") -> None:
    """Shows the values of a column as links; `target` is an expression in JavaScript on `props`."""
    with _cells(table, column).classes(classes):
        link = ui.element("a")
        # The key lets Vue replace a link whose target changes: a press must not follow another one.
        link.props.update(
            {":id": "undefined", ":key": target, ":href": target, ":textContent": "props.value"}
        )


def button_cells(
    table: ui.table,
    column: str,
    click: Callable[[JsonObject], Awaitable[None] | None],
    props: Mapping[str, object],
) -> None:
    """Shows a button in the cells of a column; `click` is called with the row."""
    with _cells(table, column):
        button = ui.button(color=None).props("flat dense no-caps size=sm")
        button.props.update({":id": "undefined", **props})
        button.on("click", lambda event: click(event.args), js_handler="() => emit(props.row)")


def _cells(table: ui.table, column: str) -> ui.element:
    """Adds the slot for the cells of a column and returns the element of a cell.

    Each row shows the same elements, so they have no id.
    """
    with table.add_slot(f"body-cell-{column}"):
        cell = ui.element("q-td")
    cell.props.update({":id": "undefined", ":props": "props"})
    return cell


@dataclass(slots=True)
class PagedTable:
    """Creates the table on `create()`; `reload()` reads the shown page again."""

    view: View
    path: str
    columns: Sequence[TableColumn]
    label: str
    filters: dict[str, object] = field(default_factory=dict)
    empty: str = "Nothing found"
    _search: str = ""
    _total: int = 0
    _requests: int = 0
    _table: ui.table = field(init=False)
    _problem: ui.label = field(init=False)

    async def create(self) -> None:
        sort = self.columns[0].name
        self._problem = ui.label().classes("text-negative console-wrap").props("role=alert")
        self._problem.set_visibility(False)
        self._table = ui.table(
            columns=[column.definition() for column in self.columns],
            rows=[],
            row_key=_ROW,
            pagination={
                "rowsPerPage": ROWS_PER_PAGE,
                "page": 1,
                "rowsNumber": 0,
                "sortBy": sort,
                "descending": False,
            },
        )
        self._table.classes("console-table").props(
            'flat bordered dense wrap-cells binary-state-sort rows-per-page-label="Rows per page:" '
            ':rows-per-page-options="[10, 25, 50, 100, 500]" '
            f'aria-label="{self.label}"'
        )
        self._table.add_slot("no-data", f'<span class="console-muted">{self.empty}</span>')
        for column in self.columns:
            column.add_cells(self._table)
        self._table.on("request", lambda event: self._request(event.args["pagination"]))
        self._table.on_pagination_change(lambda event: self._keep_total(event.value))
        with self._table.add_slot("top-left"):
            ui.input(placeholder="Search", on_change=lambda event: self._find(event.value)).props(
                f'dense outlined clearable debounce={_SEARCH_DEBOUNCE_MS} aria-label="Search"'
            )
        self.view.on_recovery(self._table, self.reload)
        await self.reload()

    async def reload(self) -> None:
        await self._request(dict(self._table.pagination))

    async def filter(self, **filters: object) -> None:
        """Sets query parameters of the API and shows the first page."""
        self.filters.update(filters)
        await self._request({**self._table.pagination, "page": 1})

    async def _find(self, text: str | None) -> None:
        self._search = text or ""
        await self._request({**self._table.pagination, "page": 1})

    async def _request(self, pagination: JsonObject) -> None:
        size = pagination.get("rowsPerPage") or ROWS_PER_PAGE
        query = {
            "search": self._search,
            "sort": pagination.get("sortBy") or "",
            "descending": bool(pagination.get("descending")),
            "offset": (pagination["page"] - 1) * size,
            "limit": size,
            **self.filters,
        }
        self._requests += 1
        number = self._requests
        try:
            found = await self.view.api.get(self.path, **query)
        except ApiCallError as error:
            self._show_problem(error)
            return
        self._problem.set_visibility(False)
        self._table.set_visibility(True)
        if number != self._requests:
            return  # a later request, for example of a longer search text, has the result
        self._total = found["total"]
        self._table.rows[:] = [{**item, _ROW: at} for at, item in enumerate(found["items"])]
        self._table.pagination = {**pagination, "rowsPerPage": size, "rowsNumber": found["total"]}
        self._table.update()

    def _show_problem(self, error: ApiCallError) -> None:
        """Says why there are no rows; rows that were read before stay."""
        if error.code == "LOGIN_REQUIRED":
            notify_error(error)
            return
        self._problem.set_text(error_text(error))
        self._problem.set_visibility(True)
        self._table.set_visibility(bool(self._table.rows))

    def _keep_total(self, pagination: dict[str, object]) -> None:
        """Corrects the total after the browser sent back the pagination that it had before."""
        if pagination.get("rowsNumber") != self._total:
            self._table.pagination = {**pagination, "rowsNumber": self._total}
            self._table.update()


_ROWS = 15


class RowButton(NamedTuple):
    label: str
    icon: str
    click: Callable[[JsonObject], Awaitable[None]]


def plain_table(
    rows: list[JsonObject],
    columns: Sequence[tuple[str, str]],
    label: str,
    *,
    empty: str = "Nothing found",
    button: RowButton | None = None,
    title: bool = True,
) -> ui.table:
    """Creates a table; `columns` has field names and headings. The first column is the key.

    `title` shows the label above it; a heading of the page may say the same.
    """
    if not rows:
        ui.label(empty).classes("console-muted")
    definitions = [
        {
            "name": field,
            "label": heading,
            "field": field,
            "sortable": True,
            "align": "right" if rows and isinstance(rows[0].get(field), int | float) else "left",
        }
        for field, heading in columns
    ]
    if button is not None:
        definitions.append(
            {"name": "action", "label": "", "field": columns[0][0], "align": "right"}
        )
    table = ui.table(columns=definitions, rows=rows, row_key=columns[0][0], pagination=_ROWS)
    table.classes("console-table").props(
        f'flat bordered dense wrap-cells aria-label="{label}" rows-per-page-label="Rows per page:"'
    )
    if title:
        table.props(f'title="{label}"')
    table.props["hide-bottom"] = len(rows) <= _ROWS
    table.set_visibility(bool(rows))
    if button is not None:
        button_cells(table, "action", button.click, {"icon": button.icon, "label": button.label})
    return table


def replace_rows(table: ui.table, rows: list[JsonObject]) -> None:
    """Shows other rows in a table of `plain_table` that has rows.

    A row that stays keeps its elements. A new table would lose a click on its predecessor, because
    the event names the button that was pressed.
    """
    table.props["hide-bottom"] = len(rows) <= _ROWS
    table.rows = rows


async def config_table(view: View, path: str, make: MakeChange, role: Role) -> None:
    """Creates the table; keys with their own value come first if only they are shown."""
    may_edit = view.may(role)
    items = await _read(view, path)
    with ui.element("div").classes("console-row"):
        search = ui.input("Search keys").props("dense outlined clearable")
        changed = ui.checkbox("Only values that differ from the default")
    columns = [*_COLUMNS, *([_EDIT_COLUMN] if may_edit else [])]
    table = ui.table(columns=columns, rows=[], row_key="name", pagination=15)
    table.classes("console-table").props(
        'flat bordered dense wrap-cells aria-label="Configuration" '
        'rows-per-page-label="Rows per page:"'
    )
    table.add_slot("body-cell-value", _VALUE_CELL)

    def show() -> None:
        text = (search.value or "").lower()
        table.rows = [
            item
            for item in items
            if text in item["name"] and not (changed.value and item["is_default"])
        ]

    async def reload(_: object) -> None:
        items[:] = await _read(view, path)
        show()

    editor = _Editor(view, make, reload) if may_edit else None
    if editor is not None:
        look = {
            "round": True,
            "icon": "edit",
            ":aria-label": "'Edit ' + props.row.name",
            ":style": "props.row.read_only ? 'display: none' : ''",
        }
        button_cells(table, "edit", editor.open, look)
    search.on_value_change(show)
    changed.on_value_change(show)
    show()


async def _read(view: View, path: str) -> list[JsonObject]:
    items: list[JsonObject] = await view.api.get(path)
    for item in items:
        item["source"] = item["source"].removesuffix("_config").replace("_", " ")
    return items


class _Editor:
    """The dialog that sets one key or resets it."""

    def __init__(
        self, view: View, make: MakeChange, done: Callable[[object], Awaitable[None] | None]
    ) -> None:
        self._key = ""
        self._dialog = ActionDialog(
            view, "Change configuration", lambda: self._action(make), done, message="Changed"
        )
        with self._dialog.fields:
            self._name = ui.label().classes("text-weight-bold console-wrap")
            self._documentation = ui.label().classes("console-muted console-wrap")
            self._value = text_field("Value")
            self._reset = ui.checkbox("Reset to the default")
            self._value.bind_enabled_from(self._reset, "value", backward=lambda chosen: not chosen)

    def open(self, row: JsonObject) -> None:
        self._key = row["name"]
        self._name.text = row["name"]
        self._documentation.text = row["documentation"] or ""
        self._value.value = row["value"] or ""
        self._reset.value = False
        self._dialog.open()

    def _action(self, make: MakeChange) -> Action:
        if self._reset.value:
            return make({}, [self._key])
        return make({self._key: self._value.value or ""}, [])
