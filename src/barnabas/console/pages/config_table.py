"""A table of configuration values with edit and the difference to the default."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from nicegui import ui

from barnabas.console.actions.action import Action
from barnabas.console.pages.dialogs import ActionDialog, text_field
from barnabas.console.pages.view import View
from barnabas.console.security.identity import Role

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
_EDIT_CELL = (
    '<q-td :props="props"><q-btn v-if="!props.row.read_only" flat dense round size="sm" '
    'icon="edit" '
    ":aria-label=\"'Edit ' + props.row.name\" @click=\"() => $parent.$emit('edit', props.row)\" />"
    "</q-td>"
)


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
    table.add_slot("body-cell-edit", _EDIT_CELL)

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
        table.on("edit", lambda event: editor.open(event.args))
    search.on_value_change(show)
    changed.on_value_change(show)
    show()


async def _read(view: View, path: str) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = await view.api.get(path)
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

    def open(self, row: dict[str, Any]) -> None:
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
