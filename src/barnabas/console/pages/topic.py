"""The page of one topic: partitions over brokers, records over time, configuration, changes."""

from typing import Any
from urllib.parse import quote

from nicegui import ui

from barnabas.console.actions import topics as actions
from barnabas.console.actions.action import Action
from barnabas.console.pages.action_dialog import ActionDialog
from barnabas.console.pages.charts import bytes_text, count_text
from barnabas.console.pages.config_table import config_table
from barnabas.console.pages.fields import number_field, whole
from barnabas.console.pages.frame import heading
from barnabas.console.pages.histogram import histogram
from barnabas.console.pages.partition_picture import PartitionPicture
from barnabas.console.pages.view import View
from barnabas.console.security.principals import Role
from barnabas.console.wording import counted


async def topic_page(view: View) -> None:
    name = view.params["name"]
    topic = await view.api.get(f"/topics/{quote(name)}")
    _summary(topic)
    picture = PartitionPicture(view, name, topic["brokers"])
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


def _summary(topic: dict[str, Any]) -> None:
    rate, size = topic["records_per_second"], topic["size_bytes"]
    parts = [
        counted(topic["partitions"], "partition"),
        counted(topic["replication_factor"], "replica"),
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
