"""The pages of topics."""

from nicegui import ui

from barnabas.console.actions import topics as actions
from barnabas.console.actions.action import Action
from barnabas.console.pages.action_dialog import ActionDialog
from barnabas.console.pages.fields import number_field, parse_configs, text_field, whole
from barnabas.console.pages.paged_table import Column, PagedTable
from barnabas.console.pages.view import View
from barnabas.console.security.principals import Role

_COLUMNS = (
    Column("name", "Topic", link="/topics/"),
    Column("partitions", "Partitions", "count"),
    Column("replication_factor", "Replicas", "count"),
    Column("size_bytes", "Size", "bytes"),
    Column("records_per_second", "Records in", "rate"),
    Column("groups", "Groups", "count"),
    Column("lag", "Lag", "count"),
    Column("under_replicated", "Under-replicated", "count", warn=True),
    Column("offline", "Offline", "count", warn=True),
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
