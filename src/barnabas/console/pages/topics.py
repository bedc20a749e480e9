"""The list of topics, and one topic: partitions, records over time, configuration, changes."""

from urllib.parse import quote

from nicegui import ui

from barnabas.console.actions import topics as actions
from barnabas.console.actions.action import Action
from barnabas.console.api_client import ApiCallError, JsonObject
from barnabas.console.models.common import counted
from barnabas.console.pages.charts import bytes_text, count_text, histogram
from barnabas.console.pages.dialogs import (
    ActionDialog,
    number_field,
    parse_configs,
    text_field,
    whole,
)
from barnabas.console.pages.frame import heading
from barnabas.console.pages.tables import PagedTable, TableColumn, config_table
from barnabas.console.pages.view import View, notify_error
from barnabas.console.security.identity import Role

_PAGE = 50
_MAX_BROKERS = 24


class PartitionChart:
    """Creates the picture; a topic with many partitions is shown page by page."""

    def __init__(self, view: View, topic: str, brokers: list[int]) -> None:
        self._view = view
        self._path = f"/topics/{quote(topic)}/partitions"
        self._brokers = brokers[:_MAX_BROKERS]
        self._offset = 0
        self._area = ui.element("div").style("display: none")

    async def create(self) -> None:
        self._area = ui.element("div").classes("full-width").style("overflow-x: auto")
        self._pages = ui.element("div").classes("console-row")
        self._view.on_recovery(self._area, self.reload)
        await self.reload()

    async def reload(self) -> None:
        try:
            page = await self._view.api.get(self._path, offset=self._offset, limit=_PAGE)
        except ApiCallError as error:
            notify_error(error)
            return
        self._area.clear()
        with self._area:
            self._table(page["items"])
        self._pages.clear()
        if page["total"] > _PAGE:
            with self._pages:
                self._page_buttons(page["total"])

    def _page_buttons(self, total: int) -> None:
        last = min(self._offset + _PAGE, total)
        previous = ui.button(icon="chevron_left", on_click=lambda: self._move(-_PAGE))
        previous.props('flat round dense aria-label="Previous partitions"')
        previous.set_enabled(self._offset > 0)
        ui.label(f"Partitions {self._offset} to {last - 1} of {count_text(total)}")
        following = ui.button(icon="chevron_right", on_click=lambda: self._move(_PAGE))
        following.props('flat round dense aria-label="Next partitions"')
        following.set_enabled(last < total)

    async def _move(self, step: int) -> None:
        self._offset = max(self._offset + step, 0)
        await self.reload()

    def _table(self, items: list[JsonObject]) -> None:
        low = min((item["log_start_offset"] or 0 for item in items), default=0)
        high = max((item["high_watermark"] or 0 for item in items), default=0)
        with ui.element("table").classes("console-picture").props('aria-label="Partitions"'):
            with ui.element("thead"), ui.element("tr"):
                for text in ("Partition", *(f"Broker {item}" for item in self._brokers)):
                    _cell("th", text)
                _cell("th", "Log start to high watermark, groups", "wide")
            with ui.element("tbody"):
                for item in items:
                    self._row(item, low, high)

    def _row(self, item: JsonObject, low: int, high: int) -> None:
        replicas = {replica["broker"]: replica for replica in item["replicas"]}
        with ui.element("tr"):
            _cell("th", str(item["partition"]))
            for broker in self._brokers:
                with ui.element("td"):
                    if broker in replicas:
                        _replica(replicas[broker])
            with ui.element("td").classes("wide"):
                _bar(item, low, high)


def _cell(tag: str, text: str, classes: str = "") -> None:
    with ui.element(tag).classes(classes):
        ui.label(text)


def _replica(replica: JsonObject) -> None:
    if not replica["online"]:
        kind, word = "offline", "offline"
    elif not replica["in_sync"]:
        kind, word = "behind", "out of sync"
    elif replica["leader"]:
        kind, word = "leader", "leader"
    else:
        kind, word = "follower", "in sync"
    with ui.element("div").classes(f"console-replica {kind}"):
        ui.label(word)
        if replica["size_bytes"] is not None:
            ui.label(bytes_text(replica["size_bytes"])).classes("console-muted")
        if replica["lag"]:
            ui.label(f"lag {count_text(replica['lag'])}").classes("console-muted")


def _bar(item: JsonObject, low: int, high: int) -> None:
    start, end = item["log_start_offset"], item["high_watermark"]
    if start is None or end is None:
        ui.label("no leader").classes("text-negative")
        return
    span = max(high - low, 1)
    left, width = 100 * (start - low) / span, 100 * (end - start) / span
    with ui.element("div").classes("console-log").props("aria-hidden=true"):
        ui.element("div").classes("console-log-fill").style(
            f"left: {left:.2f}%; width: {width:.2f}%"
        )
        for group in item["groups"]:
            at = min(max(100 * (group["offset"] - low) / span, 0), 100)
            with ui.element("div").classes("console-log-mark").style(f"left: {at:.2f}%"):
                ui.tooltip(f"{group['group']} at {count_text(group['offset'])}")
    texts = [f"{count_text(start)} to {count_text(end)}"]
    texts += [f"{group['group']}: lag {count_text(group['lag'])}" for group in item["groups"][:3]]
    if len(item["groups"]) > 3:
        texts.append(f"{len(item['groups']) - 3} more groups")
    ui.label(" · ".join(texts)).classes("console-small console-wrap")


_COLUMNS = (
    TableColumn("name", "Topic", link="/topics/"),
    TableColumn("partitions", "Partitions", "count"),
    TableColumn("replication_factor", "Replicas", "count"),
    TableColumn("size_bytes", "Size", "bytes"),
    TableColumn("records_per_second", "Records in", "rate"),
    TableColumn("groups", "Groups", "count"),
    TableColumn("lag", "Lag", "count"),
    TableColumn("under_replicated", "Under-replicated", "count", warn=True),
    TableColumn("offline", "Offline", "count", warn=True),
)


async def list_page(view: View) -> None:
    """The list of topics, and the dialog that creates one."""
    table = PagedTable(view, "/topics", _COLUMNS, "Topics", empty="No topics")
    with ui.element("div").classes("console-row"):
        if view.may(Role.OPERATE):
            dialog = _create_dialog(view, table)
            ui.button("Create topic", icon="add", on_click=dialog.open).props("no-caps")
        ui.checkbox("Internal topics", on_change=lambda event: table.filter(internal=event.value))
        ui.button(icon="refresh", on_click=table.reload).props('flat round aria-label="Refresh"')
    await table.create()


def _create_dialog(view: View, table: PagedTable) -> ActionDialog:
    def make() -> Action:
        if not (name.value or "").strip():
            raise ValueError("The topic needs a name")
        return actions.create_topic(
            name.value.strip(),
            whole(partitions.value),
            whole(replicas.value),
            parse_configs(configs.value),
        )

    dialog = ActionDialog(
        view, "Create topic", make, lambda _: table.reload(), message="Topic created"
    )
    with dialog.fields:
        name = text_field("Name")
        partitions = number_field("Partitions", "empty: the broker's default")
        replicas = number_field("Replicas", "empty: the broker's default")
        configs = ui.textarea("Configuration, KEY=VALUE per line").props("outlined dense autogrow")
        configs.classes("full-width")
    return dialog


async def topic_page(view: View) -> None:
    name = view.params["name"]
    topic = await view.api.get(f"/topics/{quote(name)}")
    _summary(topic)
    picture = PartitionChart(view, name, topic["brokers"])
    _buttons(view, name, topic, picture)
    heading("Partitions", level=2)
    await picture.create()
    await histogram(view, name)
    heading("Configuration", level=2)
    await config_table(
        view,
        f"/topics/{quote(name)}/configs",
        lambda values, reset: actions.alter_topic_configs(name, values, reset),
        Role.OPERATE,
    )


def _summary(topic: JsonObject) -> None:
    rate, size = topic["records_per_second"], topic["size_bytes"]
    parts = [
        counted(topic["partitions"], "partition"),
        counted(topic["replication_factor"], "replica"),
        *([] if size is None else [f"{bytes_text(size)} on disk"]),
        *([] if rate is None else [f"{count_text(rate)} records/s in"]),
        *(["internal"] if topic["internal"] else []),
    ]
    ui.label(" · ".join(parts)).classes("console-muted")


def _buttons(view: View, name: str, topic: JsonObject, picture: PartitionChart) -> None:
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


def _records_dialog(view: View, name: str, picture: PartitionChart) -> ActionDialog:
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
        partition = number_field("Partition", minimum=0)
        offset = number_field("Delete before offset", minimum=0)
        for field in (partition, offset):
            field.bind_enabled_from(everything, "value", backward=lambda chosen: not chosen)
    return dialog
