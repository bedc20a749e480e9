"""The pages of the cluster: one tab per subject; a tab is read when it is opened."""

from collections.abc import Awaitable, Callable

from nicegui import ui

from barnabas.console.actions import cluster as actions
from barnabas.console.actions.action import Action
from barnabas.console.api_client import ApiCallError, JsonObject
from barnabas.console.models.common import counted
from barnabas.console.pages.charts import bytes_text
from barnabas.console.pages.cluster_tabs import access_tab, transactions_tab
from barnabas.console.pages.dialogs import ActionDialog, number_field, text_field, whole
from barnabas.console.pages.tables import RowButton, config_table, plain_table, replace_rows
from barnabas.console.pages.view import View, show_error
from barnabas.console.security.identity import Role

_ENTITY_KINDS = ("user", "client_id", "ip")
_QUOTAS = (
    "producer_byte_rate",
    "consumer_byte_rate",
    "request_percentage",
    "controller_mutation_rate",
    "connection_creation_rate",
)
_PROGRESS_S = 2.0
_RETRY_S = 2.0
Tab = Callable[[View], Awaitable[None]]


async def cluster_page(view: View) -> None:
    capabilities = await view.api.get("/capabilities")
    tabs = _tabs(capabilities)
    chosen = view.query.get("tab", "")
    first = chosen if chosen in tabs else next(iter(tabs))
    with ui.tabs().props("dense no-caps align=left outside-arrows mobile-arrows") as bar:
        for name in tabs:
            ui.tab(name)
    bar.classes("full-width")
    panel = ui.column().classes("full-width no-wrap").style("gap: 16px")

    async def show(name: str) -> None:
        panel.clear()
        with panel:
            try:
                await tabs[name](view)
            except ApiCallError as error:
                panel.clear()  # the part of the tab that was created before the error
                show_error(view, error, lambda: show(name))

    bar.on_value_change(lambda event: show(event.value))
    bar.set_value(first)


def _tabs(capabilities: JsonObject) -> dict[str, Tab]:
    """Returns the tabs of functions that the cluster serves."""
    needed: tuple[tuple[str, str | None, Tab], ...] = (
        ("Configuration", None, _configs_tab),
        ("Log directories", "DESCRIBE_LOG_DIRS", _log_dirs_tab),
        ("Reassignments", "LIST_PARTITION_REASSIGNMENTS", _reassignments_tab),
        ("Elections", "ELECT_LEADERS", _elections_tab),
        ("Transactions", "LIST_TRANSACTIONS", transactions_tab),
        ("Access", "DESCRIBE_ACLS", access_tab),
        ("Quotas", "DESCRIBE_CLIENT_QUOTAS", _quotas_tab),
        ("Versions", None, _versions_tab),
    )
    served = capabilities["apis"]
    found = {name: tab for name, api, tab in needed if api is None or api in served}
    if capabilities["client_metrics"]:
        found["Clients"] = client_metrics_tab
    return {**found, "ZooKeeper": _tree_tab} if capabilities["zookeeper"] else found


async def _configs_tab(view: View) -> None:
    overview = await view.api.get("/overview")
    brokers = [item["id"] for item in overview["brokers"]]
    area = ui.column().classes("full-width no-wrap").style("gap: 12px")

    async def show(broker: int) -> None:
        area.clear()
        with area:
            await config_table(
                view,
                f"/cluster/brokers/{broker}/configs",
                lambda values, reset: actions.alter_broker_configs(broker, values, reset),
                Role.ADMIN,
            )

    select = ui.select(
        {item: f"Broker {item}" for item in brokers},
        label="Broker",
        value=brokers[0] if brokers else None,
        on_change=lambda event: show(event.value),
    ).props("dense outlined")
    select.style("min-width: 160px")
    select.move(target_index=0)
    if brokers:
        await show(brokers[0])


async def _log_dirs_tab(view: View) -> None:
    rows = await view.api.get("/cluster/log-dirs")
    for row in rows:
        row["size"] = bytes_text(row["size_bytes"])
        row["free"] = bytes_text(row["usable_bytes"])
        row["total"] = bytes_text(row["total_bytes"])
        row["state"] = row["error"] or "online"
    plain_table(
        rows,
        (
            ("broker", "Broker"),
            ("path", "Directory"),
            ("state", "State"),
            ("replicas", "Replicas"),
            ("moving", "Moving in"),
            ("size", "Size of logs"),
            ("free", "Free"),
            ("total", "Disk"),
        ),
        "Log directories",
        empty="The brokers return no log directories",
    )


async def _reassignments_tab(view: View) -> None:
    """Reassignments with their progress, read again every two seconds."""
    area = ui.column().classes("full-width no-wrap")
    # Outside `area`: the end of the last reassignment would delete an open dialog.
    dialogs = ui.element()
    table: ui.table | None = None

    async def cancel(row: JsonObject) -> None:
        with dialogs:
            dialog = ActionDialog(
                view,
                "Cancel reassignment",
                lambda: actions.reassign(row["topic"], row["partition"], None),
                lambda _: show(),
                message="Reassignment cancelled",
            )
        with dialog.fields:
            ui.label(f"{row['key']} keeps the replicas that it had before.")
        dialog.open()

    async def show() -> None:
        nonlocal table
        try:
            rows = await view.api.get("/cluster/reassignments")
        except ApiCallError:
            return  # the next read may succeed
        for row in rows:
            row["key"] = f"{row['topic']}-{row['partition']}"
            row["progress"] = "-" if row["copied"] is None else f"{row['copied']:.0%}"
            for name in ("replicas", "adding", "removing"):
                row[name] = ", ".join(str(item) for item in row[name])
        if table is not None and table.rows and rows:
            replace_rows(table, rows)
            return
        area.clear()
        with area:
            table = plain_table(
                rows,
                (
                    ("key", "Partition"),
                    ("replicas", "Replicas"),
                    ("adding", "Adding"),
                    ("removing", "Removing"),
                    ("progress", "Copied"),
                ),
                "Reassignments",
                empty="No reassignment is in progress",
                button=RowButton("Cancel", "cancel", cancel) if view.may(Role.ADMIN) else None,
            )

    if view.may(Role.ADMIN):
        dialog = _reassign_dialog(view, show)
        button = ui.button("Move a partition", icon="swap_horiz", on_click=dialog.open)
        button.props("no-caps").move(target_index=0)
    await show()
    ui.timer(_PROGRESS_S, show, immediate=False)


def _reassign_dialog(view: View, done: Callable[[], Awaitable[None]]) -> ActionDialog:
    def make() -> Action:
        index = whole(partition.value)
        try:
            brokers = [int(item) for item in (replicas.value or "").split(",")]
        except ValueError:
            raise ValueError("Replicas must be broker ids with commas") from None
        if not topic.value or index is None:
            raise ValueError("Topic and partition are required")
        return actions.reassign(topic.value.strip(), index, brokers)

    dialog = ActionDialog(
        view, "Move a partition", make, lambda _: done(), message="Reassignment started"
    )
    with dialog.fields:
        topic = text_field("Topic")
        partition = number_field("Partition", minimum=0)
        replicas = text_field("Replicas", "broker ids, the preferred leader first: 1,2,3")
    return dialog


async def _elections_tab(view: View) -> None:
    ui.label(
        "A preferred election makes the first replica of each partition its leader again. An "
        "unclean election lets a replica that is out of sync lead a partition without a leader; "
        "records that only other replicas have are lost."
    ).classes("console-wrap")
    if not view.may(Role.ADMIN):
        return

    def result(body: JsonObject) -> None:
        errors = "; ".join(f"{key}: {value}" for key, value in list(body["errors"].items())[:3])
        outcome.text = f"{counted(body['elected'], 'leader')} elected" + (
            f"; {errors}" if errors else ""
        )

    def preferred() -> Action:
        name, index = (topic.value or "").strip() or None, whole(partition.value)
        if (name is None) is not (index is None):
            raise ValueError("Topic and partition belong together")
        return actions.elect("preferred", name, index)

    def unclean() -> Action:
        name, index = (unclean_topic.value or "").strip(), whole(unclean_partition.value)
        if not name or index is None:
            raise ValueError("Topic and partition are required")
        return actions.elect("unclean", name, index)

    with ui.element("div").classes("console-row"):
        first = ActionDialog(view, "Elect preferred leaders", preferred, result)
        with first.fields:
            topic = text_field("Topic", "empty: all topics")
            partition = number_field("Partition", minimum=0)
        ui.button("Elect preferred leaders", icon="how_to_vote", on_click=first.open).props(
            "no-caps"
        )
        second = ActionDialog(
            view, "Elect unclean leaders", unclean, result, confirm_name="unclean"
        )
        with second.fields:
            unclean_topic = text_field("Topic")
            unclean_partition = number_field("Partition", minimum=0)
        ui.button("Elect unclean leaders", on_click=second.open).props(
            "no-caps outline color=negative"
        )
    outcome = ui.label().props("role=status")


async def _quotas_tab(view: View) -> None:
    area = ui.column().classes("full-width no-wrap")

    async def show(_: object = None) -> None:
        rows = [_quota_row(item) for item in await view.api.get("/cluster/quotas")]
        area.clear()
        with area:
            plain_table(
                rows,
                (("key", "Entity"), ("shown", "Quotas")),
                "Quotas",
                empty="No quotas are set",
                button=RowButton("Delete", "delete", remove) if view.may(Role.ADMIN) else None,
            )

    async def remove(row: JsonObject) -> None:
        entity = {kind: row[kind] for kind in _ENTITY_KINDS}
        dialog = ActionDialog(
            view,
            "Delete quotas",
            lambda: actions.set_quotas(entity, dict.fromkeys(row["values"])),
            show,
            message="Quotas deleted",
        )
        with dialog.fields:
            ui.label(f"{row['key']}: {row['shown']}").classes("console-wrap")
        dialog.open()

    if view.may(Role.ADMIN):
        dialog = _quota_dialog(view, show)
        ui.button("Set a quota", icon="speed", on_click=dialog.open).props("no-caps").move(
            target_index=0
        )
    await show()


def _quota_row(item: JsonObject) -> JsonObject:
    names = [f"{kind} {item[kind]}" for kind in _ENTITY_KINDS if item[kind] is not None]
    values = [f"{key} = {actions.number_text(value)}" for key, value in item["values"].items()]
    return {**item, "key": ", ".join(names), "shown": ", ".join(values)}


def _quota_dialog(view: View, done: Callable[[object], Awaitable[None]]) -> ActionDialog:
    def make() -> Action:
        entity = {kind: (field.value or "").strip() or None for kind, field in names.items()}
        if not any(entity.values()):
            raise ValueError("A user, a client id or an IP address is required")
        if entity["ip"] and (entity["user"] or entity["client_id"]):
            raise ValueError("A quota of an IP address has no user and no client id")
        if value.value is None:
            raise ValueError("The value is required")
        return actions.set_quotas(entity, {key.value: value.value})

    dialog = ActionDialog(view, "Set a quota", make, done, message="Quota set")
    with dialog.fields:
        names = {
            "user": text_field("User", "<default> for users without their own quota"),
            "client_id": text_field("Client id"),
            "ip": text_field("IP address", "only for connection_creation_rate"),
        }
        key = ui.select(list(_QUOTAS), label="Quota", value=_QUOTAS[0]).props("dense outlined")
        key.classes("full-width")
        value = ui.number("Value", min=0).props("outlined dense").classes("full-width")
    return dialog


async def _versions_tab(view: View) -> None:
    found = await view.api.get("/cluster/versions")
    for item in found["features"]:
        item["finalized"] = item["finalized"] or "-"
    plain_table(
        found["features"],
        (("name", "Feature"), ("supported", "Supported"), ("finalized", "Finalized")),
        "Features",
        empty="The cluster has no features",
    )
    plain_table(
        found["apis"],
        (("key", "Key"), ("name", "API"), ("min_version", "From"), ("max_version", "To")),
        "API versions",
    )


async def _tree_tab(view: View) -> None:
    """The ZooKeeper tree; children are read when a node is opened."""
    with ui.element("div").classes("console-grid"):
        tree = ui.tree([{"id": "/", "label": "/", "children": []}], node_key="id")
        details = ui.column()

    async def opened(path: str) -> None:
        if not details.default_slot.children:
            with details:
                ui.spinner(size="lg").props('aria-label="loading"')
        try:
            node = await view.api.get("/cluster/zookeeper", path=path)
        except ApiCallError as error:
            details.clear()
            with details:
                show_error(view, error, lambda: opened(path))
                ui.timer(_RETRY_S, lambda: opened(path), once=True)
            return
        target = _find(tree.props["nodes"], path)
        if target is not None and not target["children"]:
            base = path.rstrip("/")
            target["children"] = [
                {"id": f"{base}/{name}", "label": name, "children": []} for name in node["children"]
            ]
            tree.update()
            tree.expand([path])
        details.clear()
        with details:
            ui.label(path).classes("text-weight-bold console-wrap")
            ui.label(
                f"{counted(node['size'], 'byte')}, "
                f"{counted(len(node['children']), 'child', 'children')}"
            )
            shown = "hidden: may have credentials" if node["data"] is None else node["data"]
            ui.label(shown).classes("console-mono console-wrap")

    tree.props('aria-label="ZooKeeper tree"')
    tree.on_select(lambda event: opened(event.value) if event.value else None)
    await opened("/")


def _find(nodes: list[JsonObject], path: str) -> dict[str, object] | None:
    for node in nodes:
        if node["id"] == path:
            return node
        if path.startswith(node["id"].rstrip("/") + "/"):
            found = _find(node["children"], path)
            if found is not None:
                return found
    return None


async def client_metrics_tab(view: View) -> None:
    """The clients; a click shows the metrics of one."""
    clients = await view.api.get("/cluster/clients")
    rows = [
        {**{name: text for name, text in item.items() if name != "metrics"}, "count": len(values)}
        for item in clients
        for values in [item["metrics"]]
    ]
    area = ui.column().classes("full-width no-wrap").style("gap: 12px")

    async def show(row: JsonObject) -> None:
        area.clear()
        chosen = next(item for item in clients if item["instance_id"] == row["instance_id"])
        with area:
            _metrics_table(chosen)

    table = plain_table(
        rows,
        (
            ("instance_id", "Instance"),
            ("client_id", "Client"),
            ("software", "Software"),
            ("principal", "Principal"),
            ("count", "Metrics"),
        ),
        "Clients",
        empty="No client has pushed metrics yet; clients push every minute",
        button=RowButton("Metrics", "query_stats", show),
    )
    table.move(target_index=0)


def _metrics_table(client: JsonObject) -> None:
    values = [
        {**item, "key": f"{item['name']} {item['attributes']}", "value": _text(item["value"])}
        for item in client["metrics"]
    ]
    plain_table(
        values,
        (("key", "Metric"), ("value", "Value")),
        f"Metrics of {client['client_id'] or client['instance_id']}",
        empty="The client has pushed no values",
    )


def _text(value: float | None) -> str:
    return "-" if value is None else f"{value:,.6g}"
