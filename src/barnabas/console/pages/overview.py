"""The overview: problems, figures, live rates, brokers and disks."""

from nicegui import ui

from barnabas.console.api_client import ApiCallError, JsonObject
from barnabas.console.pages.charts import bytes_text, count_text, rate_chart, readable
from barnabas.console.pages.frame import heading
from barnabas.console.pages.view import View, error_text

_REFRESH_S = 5.0
_LONG = 16
_MAX_POINTS = 300
_SERIES = ("records_in", "records_out")


async def overview_page(view: View) -> None:
    """Shows the cluster; figures and problems are read again every few seconds."""
    problems = _Problems()
    body = ui.column().classes("full-width no-wrap").style("gap: 16px")
    with ui.element("div").classes("console-grid"):
        rates_card = _chart_card("Records per second")
        lag_card = _chart_card("Lag of all groups")
    tables = ui.column().classes("full-width no-wrap").style("gap: 16px")

    async def refresh() -> None:
        try:
            found = await view.api.get("/overview")
        except ApiCallError as error:
            # The figures stay as they were read last.
            problems.show([{"severity": "error", "text": error_text(error), "page": None}])
            return
        problems.show(found["problems"])
        body.clear()
        with body:
            _figures(found)
        tables.clear()
        with tables:
            _brokers(found["brokers"])

    await refresh()
    # The library of the charts is larger than the rest of the page, which need not wait for it.
    await ui.context.client.connected()
    rates = _chart(rates_card, ("in", "out"), "records/s")
    lag = _chart(lag_card, ("lag",), "records")
    for point in (await view.api.get("/overview/rates"))["points"]:
        _add_point(rates, lag, point)
    rates.update()
    lag.update()

    def show(point: JsonObject) -> None:
        _add_point(rates, lag, point)
        rates.update()
        lag.update()

    view.live("/overview/rates/live", show)
    ui.timer(_REFRESH_S, refresh, immediate=False)


def _chart_card(title: str) -> ui.element:
    """Creates a card and returns the element for its chart, which has the height of the chart."""
    with ui.card().classes("console-card"):
        heading(title, level=2)
        return ui.element("div").style("height: 240px; width: 100%")


def _chart(area: ui.element, names: tuple[str, ...], unit: str) -> ui.echart:
    with area:
        return ui.echart(readable(rate_chart(names, unit))).style("height: 240px; width: 100%")


def _add_point(rates: ui.echart, lag: ui.echart, point: JsonObject) -> None:
    series = rates.options["series"]
    for index, name in enumerate(_SERIES):
        data = series[index]["data"]
        if not data or data[-1][0] < point["time_ms"]:
            data.append([point["time_ms"], point[name]])
            del data[:-_MAX_POINTS]
    # At least a minute: the axis of a single point would show days.
    since = min(series[0]["data"][0][0], point["time_ms"] - 60_000)
    for chart in (rates, lag):
        chart.options["xAxis"]["min"] = since
    lags = lag.options["series"][0]["data"]
    if not lags or lags[-1][0] < point["time_ms"]:
        lags.append([point["time_ms"], point["lag"]])
        del lags[:-_MAX_POINTS]


class _Problems:
    """The list of problems.

    The same problems are not drawn again: a press on a link that is replaced has no effect.
    """

    def __init__(self) -> None:
        self._area = ui.column().classes("full-width").style("gap: 6px")
        self._area.props('role=status aria-label="Problems"')
        self._shown: list[JsonObject] | None = None

    def show(self, problems: list[JsonObject]) -> None:
        if problems == self._shown:
            return
        self._shown = problems
        self._area.clear()
        with self._area:
            if not problems:
                _problem("positive", "No problems found", None)
            for item in problems:
                _problem(item["severity"], item["text"], item["page"])


def _problem(severity: str, text: str, page: str | None) -> None:
    icons = {"error": ("error", "negative"), "warning": ("warning", "warning")}
    icon, color = icons.get(severity, ("check_circle", "positive"))
    with ui.row().classes("items-center no-wrap").style("gap: 8px"):
        ui.icon(icon, color=color, size="22px").props("aria-hidden=true")
        ui.label(text).classes("console-wrap")
        if page is not None:
            ui.link("Show", page).classes("console-link")


def _figures(found: JsonObject) -> None:
    controller = "none" if found["controller"] is None else f"broker {found['controller']}"
    figures = (
        ("Brokers", count_text(len(found["brokers"]))),
        ("Controller", controller),
        ("Metadata", found["metadata"]),
        ("Topics", count_text(found["topics"])),
        ("Partitions", count_text(found["partitions"])),
        ("Under-replicated", count_text(found["under_replicated"])),
        ("Offline", count_text(found["offline"])),
    )
    with ui.element("dl").classes("console-figures"):
        for label, value in figures:
            with ui.card().classes("console-figure"):
                with ui.element("dt").classes("console-muted"):
                    ui.label(label)
                with ui.element("dd").classes("console-small" if len(value) > _LONG else ""):
                    ui.label(value).classes("console-wrap")


def _brokers(brokers: list[JsonObject]) -> None:
    heading("Brokers", level=2)
    columns = [
        {"name": "id", "label": "Broker", "field": "id", "align": "left"},
        {"name": "address", "label": "Address", "field": "address", "align": "left"},
        {"name": "rack", "label": "Rack", "field": "rack", "align": "left"},
        {"name": "leaders", "label": "Leaders", "field": "leaders"},
        {"name": "replicas", "label": "Replicas", "field": "replicas"},
        {"name": "under_replicated", "label": "Under-replicated", "field": "under_replicated"},
        {"name": "disks", "label": "Log directories", "field": "disks", "align": "left"},
    ]
    rows = [
        {
            **item,
            "id": f"{item['id']} (controller)" if item["controller"] else str(item["id"]),
            "rack": item["rack"] or "-",
            "disks": "\n".join(_disk_text(disk) for disk in item["disks"]) or "-",
        }
        for item in brokers
    ]
    table = ui.table(columns=columns, rows=rows, row_key="address").classes("console-table")
    table.props('flat bordered dense hide-bottom aria-label="Brokers"')
    table.add_slot(
        "body-cell-disks",
        '<q-td :props="props" style="white-space: pre-line">{{ props.value }}</q-td>',
    )


def _disk_text(disk: JsonObject) -> str:
    if disk["error"] is not None:
        return f"{disk['path']}: {disk['error']}"
    text = f"{disk['path']}: {bytes_text(disk['used_by_logs_bytes'])}"
    if disk["total_bytes"]:
        text += f", {bytes_text(disk['usable_bytes'])} of {bytes_text(disk['total_bytes'])} free"
    return text
