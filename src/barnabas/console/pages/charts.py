"""Charts: rates, records over time with a brush, the lag of a group and its assignment matrix."""

from collections import deque
from datetime import UTC, datetime
from urllib.parse import quote, urlencode

from nicegui import events, ui

from barnabas.console.api_client import ApiCallError, JsonObject
from barnabas.console.pages.frame import PRIMARY, heading
from barnabas.console.pages.view import View, notify_error

TEAL = "#0b8f8f"
ORANGE = "#d97706"
_GREY = "#808080"


def readable(options: JsonObject) -> dict[str, object]:
    """Sets colours of texts and lines that are readable on dark and light.

    >>> readable({"legend": {"top": 0}})
    {'legend': {'top': 0, 'textStyle': {'color': '#808080'}}}
    """
    for axis in ("xAxis", "yAxis"):
        if axis in options:
            for part in ("axisLabel", "nameTextStyle"):
                options[axis].setdefault(part, {}).setdefault("color", _GREY)
            lines = options[axis].setdefault("splitLine", {}).setdefault("lineStyle", {})
            lines.setdefault("opacity", 0.25)
    if "legend" in options:
        options["legend"].setdefault("textStyle", {}).setdefault("color", _GREY)
    return options


def rate_chart(names: tuple[str, ...], unit: str) -> dict[str, object]:
    """Returns a line chart over time with one line per name and no points yet."""
    return {
        "animation": False,
        "color": [TEAL, ORANGE, "#7c3aed"],
        "grid": {"left": 8, "right": 32, "top": 36, "bottom": 8, "containLabel": True},
        "legend": {"data": list(names), "top": 0},
        "tooltip": {"trigger": "axis"},
        "aria": {"enabled": True},
        "xAxis": {"type": "time", "axisLabel": {"hideOverlap": True}},
        "yAxis": {
            "type": "value",
            "min": 0,
            "name": unit,
            "nameTextStyle": {"align": "left"},
            "splitLine": {"lineStyle": {"opacity": 0.25}},
        },
        "series": [
            {
                "type": "line",
                "name": name,
                "data": [],
                "showSymbol": False,
                "areaStyle": {"opacity": 0.1},
            }
            for name in names
        ],
    }


def histogram_chart(buckets: list[JsonObject]) -> dict[str, object]:
    """Returns a bar chart of records over time with a horizontal brush."""
    return {
        "animation": False,
        "color": [TEAL],
        "grid": {"left": 8, "right": 32, "top": 36, "bottom": 8, "containLabel": True},
        "tooltip": {"trigger": "axis"},
        "aria": {"enabled": True},
        "brush": {
            "xAxisIndex": 0,
            "brushType": "lineX",
            "brushMode": "single",
            "toolbox": ["lineX", "clear"],
            "throttleType": "debounce",
            "throttleDelay": 300,
        },
        "toolbox": {"right": 8, "top": 0, "iconStyle": {"borderColor": "#888"}},
        "xAxis": {
            "type": "time",
            "axisLabel": {"hideOverlap": True},
            "min": buckets[0]["start_ms"] if buckets else None,
            "max": buckets[-1]["end_ms"] if buckets else None,
        },
        "yAxis": {
            "type": "value",
            "minInterval": 1,
            "splitLine": {"lineStyle": {"opacity": 0.25}},
        },
        "series": [
            {
                "type": "bar",
                "name": "records",
                "barMaxWidth": 24,
                "data": [
                    [(item["start_ms"] + item["end_ms"]) // 2, item["records"]] for item in buckets
                ],
            }
        ],
    }


def bytes_text(value: float | None) -> str:
    """Returns a number of bytes in a readable unit.

    >>> bytes_text(10), bytes_text(1536), bytes_text(None)
    ('10 B', '1.5 KiB', '-')
    """
    if value is None:
        return "-"
    if value < 1024:
        return f"{int(value)} B"
    for unit in ("KiB", "MiB", "GiB", "TiB"):
        value /= 1024
        if value < 1024:
            return f"{value:.1f} {unit}"
    return f"{value / 1024:.1f} PiB"


def count_text(value: float | None) -> str:
    """Returns a number with separators of thousands.

    >>> count_text(1234567), count_text(None), count_text(0.25)
    ('1,234,567', '-', '0.2')
    """
    if value is None:
        return "-"
    return f"{value:,.0f}" if value == int(value) else f"{value:,.1f}"


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

    def __init__(self, view: View, topic: str, path: str, buckets: list[JsonObject]) -> None:
        self._view = view
        self._topic = topic
        self._path = path
        self._chosen: dict[str, int] = {}
        self._drawn = False
        self._chart = ui.echart(readable(histogram_chart(buckets))).style(
            "height: 240px; width: 100%"
        )
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

    def _brushed(self, event: events.GenericEventArguments) -> None:
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
        drawn = readable(histogram_chart(buckets))
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


_POINTS = 150
_CELLS = 4000
_ROW_PX = 26


class LagChart:
    """The lag since the page was opened."""

    def __init__(self) -> None:
        self._values: deque[tuple[str, int]] = deque(maxlen=_POINTS)
        with ui.card().classes("console-card").props("flat bordered"):
            heading("Lag", level=2)
            self._chart = ui.echart(
                readable(
                    {
                        "grid": {"left": 60, "right": 12, "top": 12, "bottom": 28},
                        "tooltip": {"trigger": "axis"},
                        "xAxis": {"type": "category", "data": []},
                        "yAxis": {"type": "value", "minInterval": 1},
                        "series": [
                            {
                                "type": "line",
                                "name": "records",
                                "data": [],
                                "areaStyle": {"opacity": 0.2},
                                "showSymbol": False,
                                "color": PRIMARY,
                            }
                        ],
                        "animation": False,
                    }
                )
            )
            self._chart.style("height: 220px; width: 100%").props(
                'role=img aria-label="Lag in records over time"'
            )

    def add(self, records: int) -> None:
        self._values.append((f"{datetime.now():%H:%M:%S}", records))  # noqa: DTZ005 - local time
        self._chart.options["xAxis"]["data"] = [at for at, _ in self._values]
        self._chart.options["series"][0]["data"] = [number for _, number in self._values]
        self._chart.update()


class AssignmentMatrix:
    """Members as rows, partitions as columns; a filled cell is an assigned partition."""

    def __init__(self) -> None:
        self._chart = ui.echart(
            readable(
                {
                    "grid": {"left": 170, "right": 12, "top": 12, "bottom": 70},
                    "tooltip": {},
                    "xAxis": {"type": "category", "data": [], "axisLabel": {"rotate": 45}},
                    "yAxis": {"type": "category", "data": [], "inverse": True},
                    "visualMap": {
                        "show": False,
                        "min": 0,
                        "max": 1,
                        "inRange": {"color": ["#d9a441", PRIMARY]},
                    },
                    "series": [
                        {
                            "type": "heatmap",
                            "data": [],
                            "itemStyle": {"borderWidth": 1, "borderColor": "#8888"},
                        }
                    ],
                    "animation": False,
                }
            )
        )
        self._chart.style("width: 100%").props(
            'role=img aria-label="Assignment of partitions to members; the list below has the text"'
        )
        self._note = ui.label().classes("console-muted")
        self._shown: object = None

    def show(self, members: list[JsonObject]) -> None:
        """Draws the matrix if the assignment changed."""
        state = [(member["member_id"], member["assigned"], member["target"]) for member in members]
        if state == self._shown:
            return
        self._shown = state
        columns, cells, names = matrix_of(members)
        self._chart.set_visibility(bool(cells))
        options = self._chart.options
        options["xAxis"]["data"] = column_labels(columns)
        options["yAxis"]["data"] = names
        options["series"][0]["data"] = cells
        self._chart.style(f"height: {120 + _ROW_PX * max(len(names), 2)}px")
        self._chart.update()
        pending = any(value == 0 for _, _, value in cells)
        self._note.set_text("Light cells: partitions that will move here." if pending else "")


def matrix_of(
    members: list[JsonObject],
) -> tuple[list[str], list[list[int]], list[str]]:
    """Returns partition names, cells (column, row, 1 assigned or 0 target), and member names.

    Only the first cells are drawn if there are too many for a chart.
    """
    current = [_names(member["assigned"]) for member in members]
    target = [_names(member["target"] or []) for member in members]
    columns = sorted(set().union(*current, *target), key=_by_number) if members else []
    columns = columns[: max(_CELLS // max(len(members), 1), 1)]
    cells = []
    for row, (assigned, wanted) in enumerate(zip(current, target, strict=True)):
        for number, name in enumerate(columns):
            if name in assigned:
                cells.append([number, row, 1])
            elif name in wanted:
                cells.append([number, row, 0])
    labels = [f"{member['client_id']}@{member['host']}" for member in members]
    return columns, cells, labels


def column_labels(columns: list[str]) -> list[str]:
    """Returns short names of partitions: the number is enough if there is one topic.

    >>> column_labels(["orders-0", "orders-1"]), column_labels(["a-0", "a-long-topic-name-1"])
    (['0', '1'], ['a-0', 'a-long-topi…-1'])
    """
    parts = [name.rpartition("-") for name in columns]
    if len({topic for topic, _, _ in parts}) == 1:
        return [number for _, _, number in parts]
    return [
        f"{topic if len(topic) <= 12 else topic[:11] + '…'}-{number}" for topic, _, number in parts
    ]


def _names(partitions: list[JsonObject]) -> set[str]:
    return {f"{item['topic']}-{item['partition']}" for item in partitions}


def _by_number(name: str) -> tuple[str, int]:
    topic, _, number = name.rpartition("-")
    return topic, int(number)
