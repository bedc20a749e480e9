"""The pages of pipelines, and the page of SQL.

The page of SQL has an editor for a bounded statement, its rows and a plot, and what is defined.
"""

from urllib.parse import quote

from nicegui import ui

from barnabas.console.actions import groups as actions
from barnabas.console.actions.action import Action
from barnabas.console.api_client import ApiCallError, JsonObject
from barnabas.console.models.common import counted
from barnabas.console.pages.charts import readable
from barnabas.console.pages.dialogs import copy_buttons, made
from barnabas.console.pages.frame import PRIMARY, heading
from barnabas.console.pages.tables import PagedTable, RowButton, TableColumn, plain_table
from barnabas.console.pages.view import View, notify_error

_COLUMNS = (
    TableColumn("name", "Pipeline", link="/pipelines/"),
    TableColumn("state", "State"),
    TableColumn("rows_per_second", "Rows", "rate"),
    TableColumn("batch_ms", "Micro-batch, ms", "count"),
    TableColumn("lag", "Lag", "count"),
    TableColumn("state_rows", "Rows of state", "count"),
    TableColumn("updated", "Updated (UTC)", "time"),
    TableColumn("error", "Last error", sortable=False),
)
_REFRESH_S = 2.0
_KIND_COLOURS = {"topic": PRIMARY, "step": "#6b7280", "table": "#8a5a00", "format": "#8a5a00"}
_NODE_PX = 220


async def list_page(view: View) -> None:
    """Pipelines that ran on the console's machine."""
    ui.label("Pipelines that ran on the machine of this console (barnabas pipeline run).").classes(
        "console-muted"
    )
    table = PagedTable(view, "/pipelines", _COLUMNS, "Pipelines", empty="No pipeline has run here")
    await table.create()
    ui.timer(_REFRESH_S, table.reload, immediate=False)


async def pipeline_page(view: View) -> None:
    """One pipeline; the figures are read again every two seconds."""
    path = f"/pipelines/{quote(view.params['name'], safe='')}"
    page = _PipelinePage(await view.api.get(path))

    async def refresh() -> None:
        try:
            page.show(await view.api.get(path))
        except ApiCallError as error:
            notify_error(error)

    ui.timer(_REFRESH_S, refresh, immediate=False)


class _PipelinePage:
    def __init__(self, detail: JsonObject) -> None:
        with ui.element("div").classes("console-grid"):
            with ui.card().classes("console-card").props("flat bordered"):
                heading("Status", level=2)
                self._facts = ui.column().classes("full-width")
            with ui.card().classes("console-card").props("flat bordered"):
                heading("Phases of the last micro-batch", level=2)
                self._phases = _bar_chart("Milliseconds of each phase")
        if detail["topology"] is not None:
            with ui.card().classes("console-card").props("flat bordered"):
                heading("Topology", level=2)
                _topology_chart(detail["topology"])
                _topology_text(detail["topology"])
        self._error = ui.label().classes("text-negative console-wrap").props("role=alert")
        self.show(detail)

    def show(self, detail: JsonObject) -> None:
        summary = detail["summary"]
        self._facts.clear()
        with self._facts:
            for label, value in {
                "State": summary["state"],
                "Micro-batch": summary["batch"],
                "Rows per second": summary["rows_per_second"],
                "Duration, ms": summary["batch_ms"],
                "Lag": summary["lag"],
                "Rows of state": summary["state_rows"],
                "Bytes of state": detail["state_bytes"],
                "Started": _time(summary["started"]),
                "Updated": _time(summary["updated"]),
                "File": detail["file"],
                "Checkpoint": detail["checkpoint"],
            }.items():
                _figure(label, value)
        phases = detail["phases"]
        self._phases.options["yAxis"]["data"] = [item["name"] for item in phases]
        self._phases.options["series"][0]["data"] = [item["milliseconds"] for item in phases]
        self._phases.update()
        self._error.set_text(summary["error"] or "")


def _time(text: str | None) -> str | None:
    """Returns a time of a status file, which is in UTC, without its ISO marks.

    >>> _time("2026-11-17T08:05:23+00:00"), _time(None)
    ('2026-11-17 08:05:23 UTC', None)
    """
    return None if text is None else f"{text[:19].replace('T', ' ')} UTC"


def _figure(label: str, value: object) -> None:
    shown = "-" if value is None else f"{value:,}" if isinstance(value, int) else str(value)
    with ui.row().classes("full-width no-wrap"):
        ui.label(label).classes("console-muted").style("width: 140px; flex: none")
        ui.label(shown).classes("console-wrap").props(f'data-fact="{label}"')


def _bar_chart(label: str) -> ui.echart:
    chart = ui.echart(
        readable(
            {
                "grid": {"left": 140, "right": 24, "top": 8, "bottom": 28},
                "tooltip": {},
                "xAxis": {"type": "value"},
                "yAxis": {"type": "category", "data": [], "inverse": True},
                "series": [{"type": "bar", "data": [], "color": PRIMARY}],
                "animation": False,
            }
        )
    )
    chart.style("height: 240px; width: 100%").props(f'role=img aria-label="{label}"')
    return chart


def _topology_chart(topology: JsonObject) -> None:
    columns = node_columns(topology)
    nodes = [
        {
            "name": node["id"],
            "value": node["label"],
            "x": columns[node["id"]][0] * _NODE_PX,
            "y": columns[node["id"]][1] * 70,
            "symbol": "roundRect",
            "symbolSize": [170, 34],
            "itemStyle": {"color": _KIND_COLOURS[node["kind"]]},
            "label": {"formatter": _short(node["label"]), "show": True, "color": "#fff"},
        }
        for node in topology["nodes"]
    ]
    rows = max(row for _, row in columns.values()) + 1
    ui.echart(
        readable(
            {
                "tooltip": {"formatter": "{c}"},
                "series": [
                    {
                        "type": "graph",
                        "layout": "none",
                        "roam": True,
                        "edgeLabel": {"show": True, "formatter": "▶", "color": "#6b7280"},
                        "lineStyle": {"width": 2},
                        "data": nodes,
                        "links": [
                            {"source": start, "target": end} for start, end in topology["edges"]
                        ],
                    }
                ],
                "animation": False,
            }
        )
    ).style(f"height: {60 + 70 * rows}px; width: 100%").props(
        'role=img aria-label="Topology; the list below has the text"'
    )


def _topology_text(topology: JsonObject) -> None:
    labels = {node["id"]: node["label"] for node in topology["nodes"]}
    with ui.expansion("Topology as text").classes("full-width"):
        for start, end in topology["edges"]:
            ui.label(f"{labels[start]} → {labels[end]}").classes("console-wrap")


def node_columns(topology: JsonObject) -> dict[str, tuple[int, int]]:
    """Returns column and row of each node: one column after its farthest predecessor.

    >>> node_columns({"nodes": [{"id": "a"}, {"id": "b"}], "edges": [("a", "b")]})
    {'a': (0, 0), 'b': (1, 0)}
    """
    depth = {node["id"]: 0 for node in topology["nodes"]}
    for _ in topology["nodes"]:
        for start, end in topology["edges"]:
            depth[end] = max(depth[end], depth[start] + 1)
    filled: dict[int, int] = {}
    found = {}
    for identifier, column in depth.items():
        found[identifier] = (column, filled.get(column, 0))
        filled[column] = filled.get(column, 0) + 1
    return found


def _short(text: str) -> str:
    return text if len(text) <= 24 else text[:23] + "…"


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

    def show_definitions(self, found: JsonObject) -> None:
        """Lists streams, tables and queries; a button puts a SELECT into the editor."""

        async def select(row: dict[str, object]) -> None:
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


def show_rows(result: JsonObject) -> None:
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


def numeric_columns(result: JsonObject) -> list[str]:
    """Returns the columns whose values are all numbers; True and False are not numbers."""
    return [
        name
        for name in result["columns"]
        if all(
            isinstance(row.get(name), (int, float)) and not isinstance(row.get(name), bool)
            for row in result["rows"]
        )
    ]


def _plot(result: JsonObject, numeric: list[str]) -> None:
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
