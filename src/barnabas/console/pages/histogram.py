"""The bar chart of a topic's records over time; a brushed range can be zoomed or browsed."""

from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote, urlencode

from nicegui import ui

from barnabas.console.api_client import ApiCallError
from barnabas.console.pages.charts import histogram_chart
from barnabas.console.pages.frame import heading
from barnabas.console.pages.view import View, notify_error

_BRUSH = {
    "type": "takeGlobalCursor",
    "key": "brush",
    "brushOption": {"brushType": "lineX", "brushMode": "single"},
}


async def histogram(view: View, topic: str) -> None:
    """Creates the chart, or a text if there is nothing to draw."""
    path = f"/topics/{quote(topic)}/histogram"
    heading("Records over time", level=2)
    try:
        found = await view.api.get(path)
    except ApiCallError as error:
        notify_error(error)
        return
    if not found["buckets"]:
        ui.label("The topic has no records.").classes("console-muted")
        return
    _Histogram(view, topic, path, found["buckets"])


class _Histogram:
    """The chart, the chosen range, and what can be done with it."""

    def __init__(self, view: View, topic: str, path: str, buckets: list[dict[str, Any]]) -> None:
        self._view = view
        self._topic = topic
        self._path = path
        self._chosen: dict[str, int] = {}
        self._drawn = False
        self._chart = ui.echart(histogram_chart(buckets)).style("height: 240px; width: 100%")
        self._chart.on("chart:finished", self._activate_brush, [])
        self._chart.on("chart:brushEnd", self._brushed, ["areas"])
        with ui.element("div").classes("console-row"):
            self._label = ui.label("Drag over the chart to choose a range.")
            self._label.classes("console-muted")
            self._browse = ui.button("Show records", icon="list", on_click=self._show_records)
            self._zoom = ui.button("Zoom", icon="zoom_in", on_click=self._draw_range)
            every = ui.button("All", icon="zoom_out", on_click=self._draw_all)
        for button in (self._browse, self._zoom, every):
            button.props("no-caps flat")
        self._browse.disable()
        self._zoom.disable()

    def _activate_brush(self) -> None:
        """Lets the user drag over the chart without a click on its tool first."""
        if not self._drawn:
            self._drawn = True  # activating it draws the chart again, which is no new chart
            self._chart.run_chart_method("dispatchAction", _BRUSH)

    def _brushed(self, event: Any) -> None:
        areas = event.args.get("areas") or []
        span = areas[0].get("coordRange") if areas else None
        self._chosen.clear()
        if span:
            self._chosen.update(start_ms=max(int(span[0]), 0), end_ms=max(int(span[1]), 0))
            first, last = (_time(self._chosen[name]) for name in ("start_ms", "end_ms"))
            self._label.text = f"{first} UTC to {last} UTC"
        self._browse.set_enabled(bool(self._chosen))
        self._zoom.set_enabled(bool(self._chosen))

    async def _draw_range(self) -> None:
        await self._draw(dict(self._chosen))

    async def _draw_all(self) -> None:
        await self._draw({})

    async def _draw(self, times: dict[str, int]) -> None:
        try:
            buckets = (await self._view.api.get(self._path, **times))["buckets"]
        except ApiCallError as error:
            notify_error(error)
            return
        drawn = histogram_chart(buckets)
        for part in ("xAxis", "series"):
            self._chart.options[part] = drawn[part]
        self._drawn = False
        self._chart.update()

    def _show_records(self) -> None:
        query = {
            "start": "time",
            "time": _time(self._chosen["start_ms"]),
            "until": _time(self._chosen["end_ms"]),
        }
        ui.navigate.to(f"/topics/{quote(self._topic)}/records?{urlencode(query)}")


def _time(time_ms: int) -> str:
    """Returns a time as the page of records takes it."""
    return datetime.fromtimestamp(time_ms / 1000, UTC).strftime("%Y-%m-%d %H:%M:%S")
