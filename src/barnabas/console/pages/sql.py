"""The page of SQL: an editor for a bounded statement, its rows and a plot, and what is defined."""

from typing import Any

from nicegui import ui

from barnabas.console.actions import pipelines as actions
from barnabas.console.actions.action import Action
from barnabas.console.api_client import ApiCallError
from barnabas.console.models.common import counted
from barnabas.console.pages.charts import readable
from barnabas.console.pages.dialogs import copy_buttons, made
from barnabas.console.pages.frame import heading
from barnabas.console.pages.tables import RowButton, plain_table
from barnabas.console.pages.view import View


async def sql_page(view: View) -> None:
    """An editor for one bounded statement, its rows, a plot of them, and the definitions."""
    page = _SqlPage(view)
    page.show_definitions(await view.api.get("/sql/definitions"))


class _SqlPage:
    def __init__(self, view: View) -> None:
        self._view = view
        ui.label(
            "SELECT, SHOW, DESCRIBE and EXPLAIN on the streams and tables of barnabas sql. "
            "A statement takes some seconds: Spark starts for it."
        ).classes("console-muted")
        self._editor = ui.codemirror("SHOW STREAMS;", language="SQL", line_wrapping=True)
        self._editor.classes("full-width").style("height: 160px").props('aria-label="Statement"')
        with ui.element("div").classes("console-row"):
            self._button = ui.button("Run", icon="play_arrow", on_click=self._run).props("no-caps")
            copy_buttons(view, self._action)
            self._status = ui.label().props("role=status").classes("sql-status")
        self._results = ui.column().classes("full-width")

    def _action(self) -> Action:
        statement = (self._editor.value or "").strip()
        if not statement:
            raise ValueError("Enter a statement")
        return actions.run_statement(statement)

    def show_definitions(self, found: dict[str, Any]) -> None:
        """Lists streams, tables and queries; a button puts a SELECT into the editor."""

        async def select(row: dict[str, Any]) -> None:
            self._editor.value = f"SELECT * FROM {row['name']} LIMIT 100;"

        heading("Streams and tables", level=2)
        plain_table(
            found["relations"],
            (("name", "Name"), ("kind", "Kind"), ("topic", "Topic"), ("statement", "Statement")),
            "Streams and tables",
            empty="No streams or tables; define them with barnabas sql",
            button=RowButton("Select", "play_arrow", select),
            title=False,
        )
        heading("Queries", level=2)
        rows = [
            {**item, "sources": ", ".join(item["sources"]), "runs_at": item["runs_at"] or "-"}
            for item in found["queries"]
        ]
        plain_table(
            rows,
            (
                ("query_id", "Query"),
                ("sources", "Reads"),
                ("target", "Writes"),
                ("runs_at", "State is at"),
                ("statement", "Statement"),
            ),
            "Queries",
            empty="No queries",
            title=False,
        )

    async def _run(self) -> None:
        action = made(self._action)
        if action is None:
            return
        self._button.disable()
        self._status.set_text("Running …")
        try:
            result = await self._view.api.request(action.method, action.path, body=action.body)
        except ApiCallError as error:
            self._status.set_text(f"{error.code}: {error.message}")
            return
        finally:
            self._button.enable()
        count = len(result["rows"])
        more = " (more rows were cut off)" if result["truncated"] else ""
        self._status.set_text(f"{counted(count, 'row')}{more} in {result['seconds']:.1f} s")
        self._results.clear()
        with self._results:
            show_rows(result)


def show_rows(result: dict[str, Any]) -> None:
    """Creates the table, and a plot if there are numbers."""
    if result["message"]:
        ui.label(result["message"]).classes("console-wrap console-mono")
    if not result["rows"]:
        return
    names = result["columns"]
    columns = [
        {"name": name, "label": name, "field": name, "align": "left", "sortable": True}
        for name in names
    ]
    rows = [
        {"key": number, **{name: _cell(row.get(name)) for name in names}}
        for number, row in enumerate(result["rows"])
    ]
    table = ui.table(columns=columns, rows=rows, row_key="key", pagination=25)
    table.classes("console-table").props(
        'flat bordered dense aria-label="Rows" rows-per-page-label="Rows per page:"'
    )
    numeric = numeric_columns(result)
    if numeric:
        _plot(result, numeric)


def numeric_columns(result: dict[str, Any]) -> list[str]:
    """Returns the columns whose values are all numbers; True and False are not numbers."""
    return [
        name
        for name in result["columns"]
        if all(
            isinstance(row.get(name), (int, float)) and not isinstance(row.get(name), bool)
            for row in result["rows"]
        )
    ]


def _plot(result: dict[str, Any], numeric: list[str]) -> None:
    label = next((name for name in result["columns"] if name not in numeric), None)
    names = [
        str(number if label is None else row.get(label))
        for number, row in enumerate(result["rows"])
    ]
    ui.echart(
        readable(
            {
                "tooltip": {"trigger": "axis"},
                "legend": {"top": 0},
                "grid": {"left": 16, "right": 32, "top": 36, "bottom": 8, "containLabel": True},
                "xAxis": {
                    "type": "category",
                    "data": names,
                    "axisLabel": {"rotate": 30, "width": 140, "overflow": "truncate"},
                },
                "yAxis": {"type": "value"},
                "series": [
                    {"type": "bar", "name": name, "data": [row[name] for row in result["rows"]]}
                    for name in numeric
                ],
                "animation": False,
            }
        )
    ).style("height: 320px; width: 100%").props('role=img aria-label="Plot of the rows"')


def _cell(value: object) -> object:
    return value if isinstance(value, (str, int, float)) or value is None else str(value)
