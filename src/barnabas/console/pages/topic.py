"""The page of one topic: partitions over brokers, records over time, configuration, changes."""

from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote

from nicegui import ui

from barnabas.console.actions import topics as actions
from barnabas.console.actions.action import Action
from barnabas.console.api_client import ApiCallError
from barnabas.console.pages.action_dialog import ActionDialog
from barnabas.console.pages.charts import bytes_text, count_text, histogram_chart
from barnabas.console.pages.config_table import config_table
from barnabas.console.pages.fields import number_field, whole
from barnabas.console.pages.frame import heading
from barnabas.console.pages.partition_picture import PartitionPicture
from barnabas.console.pages.view import View, notify_error
from barnabas.console.security.principals import Role

_DRAWN_S = 0.5


async def topic_page(view: View) -> None:
    name = view.params["name"]
    topic = await view.api.get(f"/topics/{quote(name)}")
    _summary(topic)
    picture = PartitionPicture(view, name, topic["brokers"])
    _buttons(view, name, topic, picture)
    heading("Partitions", level=2)
    await picture.create()
    await _histogram(view, name)
    heading("Configuration", level=2)
    await config_table(
        view,
        f"/topics/{quote(name)}/configs",
        lambda values, reset: actions.alter_topic_configs(name, values, reset),
        Role.OPERATE,
    )


def _summary(topic: dict[str, Any]) -> None:
    rate, size = topic["records_per_second"], topic["size_bytes"]
    parts = [
        f"{count_text(topic['partitions'])} partitions",
        f"{topic['replication_factor']} replicas",
        *([] if size is None else [f"{bytes_text(size)} on disk"]),
        *([] if rate is None else [f"{count_text(rate)} records/s in"]),
        *(["internal"] if topic["internal"] else []),
    ]
    ui.label(" · ".join(parts)).classes("console-muted")


def _buttons(view: View, name: str, topic: dict[str, Any], picture: PartitionPicture) -> None:
    with ui.element("div").classes("console-row"):
        ui.button(
            "Records",
            icon="list",
            on_click=lambda: ui.navigate.to(f"/topics/{quote(name)}/records"),
        ).props("no-caps outline")
        if view.may(Role.OPERATE):
            adding = _partitions_dialog(view, name, topic["partitions"])
            ui.button("Add partitions", icon="add", on_click=adding.open).props("no-caps outline")
        if view.may(Role.ADMIN):
            records = _records_dialog(view, name, picture)
            ui.button("Delete records", icon="content_cut", on_click=records.open).props(
                "no-caps outline"
            )
            deleting = ActionDialog(
                view,
                "Delete topic",
                lambda: actions.delete_topic(name),
                lambda _: ui.navigate.to("/topics"),
                confirm_name=name,
                message="Topic deleted",
            )
            with deleting.fields:
                ui.label("All records and committed offsets of the topic are lost.")
            ui.button("Delete topic", icon="delete", on_click=deleting.open).props(
                "no-caps outline color=negative"
            )


def _partitions_dialog(view: View, name: str, current: int) -> ActionDialog:
    def make() -> Action:
        wanted = whole(total.value)
        if wanted is None or wanted <= current:
            raise ValueError(f"The new number must be greater than {current}")
        return actions.add_partitions(name, wanted)

    dialog = ActionDialog(
        view, "Add partitions", make, lambda _: ui.navigate.reload(), message="Partitions added"
    )
    with dialog.fields:
        ui.label("Records with the same key may go to another partition than before.")
        total = number_field("New number of partitions", f"now {current}")
    return dialog


def _records_dialog(view: View, name: str, picture: PartitionPicture) -> ActionDialog:
    def make() -> Action:
        if everything.value:
            return actions.delete_records(name, None)
        index, before = whole(partition.value), whole(offset.value)
        if index is None or before is None:
            raise ValueError("Partition and offset are required")
        return actions.delete_records(name, {index: before})

    dialog = ActionDialog(
        view,
        "Delete records",
        make,
        lambda _: picture.reload(),
        confirm_name=name,
        message="Records deleted",
    )
    with dialog.fields:
        everything = ui.checkbox("All records of all partitions")
        partition = number_field("Partition").props("min=0")
        offset = number_field("Delete before offset").props("min=0")
        for field in (partition, offset):
            field.bind_enabled_from(everything, "value", backward=lambda chosen: not chosen)
    return dialog


async def _histogram(view: View, name: str) -> None:
    """The bar chart of records over time; a brushed range can be zoomed or browsed."""
    path = f"/topics/{quote(name)}/histogram"
    heading("Records over time", level=2)
    try:
        found = await view.api.get(path)
    except ApiCallError as error:
        notify_error(error)
        return
    if not found["buckets"]:
        ui.label("The topic has no records.").classes("console-muted")
        return
    chosen: dict[str, int] = {}
    chart = ui.echart(histogram_chart(found["buckets"])).style("height: 240px; width: 100%")
    with ui.element("div").classes("console-row"):
        label = ui.label("Drag over the chart to choose a range.").classes("console-muted")
        browse = (
            ui.button("Show records", icon="list").props("no-caps flat").classes("browse-range")
        )
        zoom = ui.button("Zoom", icon="zoom_in").props("no-caps flat")
        ui.button("All", icon="zoom_out", on_click=lambda: draw({})).props("no-caps flat")
    browse.disable()
    zoom.disable()
    _activate_brush(chart)

    async def draw(times: dict[str, int]) -> None:
        try:
            buckets = (await view.api.get(path, **times))["buckets"]
        except ApiCallError as error:
            notify_error(error)
            return
        chart.options["series"][0]["data"] = histogram_chart(buckets)["series"][0]["data"]
        chart.update()
        _activate_brush(chart)

    def brushed(event: Any) -> None:
        areas = event.args.get("areas") or []
        span = areas[0].get("coordRange") if areas else None
        chosen.clear()
        if span:
            chosen.update(start_ms=max(int(span[0]), 0), end_ms=max(int(span[1]), 0))
            label.text = f"{_time(chosen['start_ms'])} to {_time(chosen['end_ms'])}"
        browse.set_enabled(bool(chosen))
        zoom.set_enabled(bool(chosen))

    chart.on("chart:brushEnd", brushed, ["areas"])
    zoom.on_click(lambda: draw(dict(chosen)))
    browse.on_click(
        lambda: ui.navigate.to(
            f"/topics/{quote(name)}/records?start=time&time={quote(_plain_time(chosen['start_ms']))}"
        )
    )


def _activate_brush(chart: ui.echart) -> None:
    """Lets the user drag over the chart without a click on its tool first."""
    option = {"brushType": "lineX", "brushMode": "single"}
    action = {"type": "takeGlobalCursor", "key": "brush", "brushOption": option}
    # The browser creates and updates charts asynchronously; the action needs the finished chart.
    ui.timer(_DRAWN_S, lambda: chart.run_chart_method("dispatchAction", action), once=True)


def _time(time_ms: int) -> str:
    return f"{_plain_time(time_ms)} UTC"


def _plain_time(time_ms: int) -> str:
    """Returns a time as the page of records takes it."""
    return datetime.fromtimestamp(time_ms / 1000, UTC).strftime("%Y-%m-%d %H:%M:%S")
