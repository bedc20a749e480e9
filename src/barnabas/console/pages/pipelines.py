"""The pages of pipelines."""

from typing import Any
from urllib.parse import quote

from nicegui import ui

from barnabas.console.api_client import ApiCallError
from barnabas.console.pages.charts import readable
from barnabas.console.pages.frame import PRIMARY, heading
from barnabas.console.pages.tables import Column, PagedTable
from barnabas.console.pages.view import View, notify_error

_COLUMNS = (
    Column("name", "Pipeline", link="/pipelines/"),
    Column("state", "State"),
    Column("rows_per_second", "Rows", "rate"),
    Column("batch_ms", "Micro-batch, ms", "count"),
    Column("lag", "Lag", "count"),
    Column("state_rows", "Rows of state", "count"),
    Column("updated", "Updated (UTC)", "time"),
    Column("error", "Last error", sortable=False),
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
    def __init__(self, detail: dict[str, Any]) -> None:
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

    def show(self, detail: dict[str, Any]) -> None:
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
                _fact(label, value)
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


def _fact(label: str, value: object) -> None:
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


def _topology_chart(topology: dict[str, Any]) -> None:
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


def _topology_text(topology: dict[str, Any]) -> None:
    labels = {node["id"]: node["label"] for node in topology["nodes"]}
    with ui.expansion("Topology as text").classes("full-width"):
        for start, end in topology["edges"]:
            ui.label(f"{labels[start]} → {labels[end]}").classes("console-wrap")


def node_columns(topology: dict[str, Any]) -> dict[str, tuple[int, int]]:
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
