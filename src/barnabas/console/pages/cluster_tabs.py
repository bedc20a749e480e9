"""Tabs of the cluster page: ACLs and users with their changes, and transactions with abort."""

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime

from nicegui import ui

from barnabas.console.actions import cluster as actions
from barnabas.console.actions.action import Action
from barnabas.console.api_client import ApiCallError, JsonObject
from barnabas.console.pages.dialogs import ActionDialog, text_field
from barnabas.console.pages.frame import heading
from barnabas.console.pages.tables import RowButton, plain_table
from barnabas.console.pages.view import View, notify_error
from barnabas.console.security.identity import Role

_OPERATIONS = (
    "all", "read", "write", "create", "delete", "alter", "describe", "cluster_action",
    "describe_configs", "alter_configs", "idempotent_write",
)  # fmt: skip
_TYPES = ("topic", "group", "cluster", "transactional_id", "user")


async def access_tab(view: View) -> None:
    area = ui.column().classes("full-width no-wrap").style("gap: 16px")

    async def show(_: object = None) -> None:
        found = await view.api.get("/cluster/access")
        area.clear()
        with area:
            _contents(view, found, show)

    await show()


def _contents(view: View, found: JsonObject, reload: Callable[[object], Awaitable[None]]) -> None:
    if not found["authorizer"]:
        ui.label("The cluster has no authorizer: every client may do everything.")
    else:
        if view.may(Role.ADMIN):
            dialog = _create_dialog(view, reload)
            ui.button("Create ACL", icon="add", on_click=dialog.open).props("no-caps")
        _matrix(found["acls"])
        _list(view, found["acls"], reload)
    heading("SCRAM users", level=2)
    users = [{"user": user, "kinds": ", ".join(kinds)} for user, kinds in found["users"].items()]
    plain_table(
        users,
        (("user", "User"), ("kinds", "Credentials")),
        "Users",
        empty="No SCRAM users",
        title=False,
    )


def _matrix(acls: list[JsonObject]) -> None:
    """Shows the allowed operations: one row per principal, one column per resource."""
    heading("Who may do what", level=2)
    if not acls:
        ui.label("There are no ACLs.").classes("console-muted")
        return
    resources = sorted({_resource(item) for item in acls})
    principals = sorted({item["principal"] for item in acls})
    cells: dict[tuple[str, str], list[str]] = {}
    for item in acls:
        word = item["operation"] if item["permission"] == "allow" else f"not {item['operation']}"
        cells.setdefault((item["principal"], _resource(item)), []).append(word)
    columns = [{"name": "who", "label": "Principal", "field": "who", "align": "left"}]
    columns += [
        {"name": f"r{index}", "label": name, "field": f"r{index}", "align": "left"}
        for index, name in enumerate(resources)
    ]
    rows = [
        {
            "who": who,
            **{
                f"r{index}": ", ".join(sorted(cells.get((who, name), [])))
                for index, name in enumerate(resources)
            },
        }
        for who in principals
    ]
    table = ui.table(columns=columns, rows=rows, row_key="who", pagination=25)
    table.classes("console-table").props(
        'flat bordered dense wrap-cells aria-label="Who may do what" '
        'rows-per-page-label="Rows per page:"'
    )


def _resource(item: dict[str, object]) -> str:
    star = "*" if item["pattern"] == "prefixed" else ""
    return f"{item['resource_type']} {item['resource_name']}{star}"


def _list(view: View, acls: list[JsonObject], reload: Callable[[object], Awaitable[None]]) -> None:
    async def remove(row: JsonObject) -> None:
        item = {key: value for key, value in row.items() if key != "number"}
        dialog = ActionDialog(
            view, "Delete ACL", lambda: actions.delete_acl(item), reload, message="ACL deleted"
        )
        with dialog.fields:
            ui.label(
                f"{item['principal']}: {item['permission']} {item['operation']} on "
                f"{_resource(item)}"
            ).classes("console-wrap")
        dialog.open()

    rows = [{"number": index + 1, **item} for index, item in enumerate(acls)]
    plain_table(
        rows,
        (
            ("number", "No."),
            ("principal", "Principal"),
            ("permission", "Permission"),
            ("operation", "Operation"),
            ("resource_type", "Resource"),
            ("resource_name", "Name"),
            ("pattern", "Pattern"),
            ("host", "Host"),
        ),
        "ACLs",
        empty="",
        button=RowButton("Delete", "delete", remove) if view.may(Role.ADMIN) else None,
    )


def _create_dialog(view: View, done: Callable[[object], Awaitable[None]]) -> ActionDialog:
    def make() -> Action:
        if not principal.value or not name.value:
            raise ValueError("Principal and resource name are required")
        return actions.create_acl(
            {
                "principal": principal.value.strip(),
                "host": host.value or "*",
                "operation": operation.value,
                "permission": permission.value,
                "resource_type": kind.value,
                "resource_name": name.value.strip(),
                "pattern": pattern.value,
            }
        )

    def select(options: tuple[str, ...], label: str) -> ui.select:
        element = ui.select(list(options), label=label, value=options[0]).props("dense outlined")
        return element.classes("full-width")

    dialog = ActionDialog(view, "Create ACL", make, done, message="ACL created")
    with dialog.fields:
        principal = text_field("Principal", "User:alice")
        permission = select(("allow", "deny"), "Permission")
        operation = select(_OPERATIONS, "Operation")
        kind = select(_TYPES, "Resource type")
        name = text_field("Resource name")
        pattern = select(("literal", "prefixed"), "Pattern")
        host = text_field("Host", "* for every host")
    return dialog


async def transactions_tab(view: View) -> None:
    rows = await view.api.get("/cluster/transactions")
    for row in rows:
        row["started"] = time_text(row["started_ms"])
        row["partitions"] = ", ".join(row["partitions"])
    plain_table(
        rows,
        (
            ("transactional_id", "Transactional id"),
            ("state", "State"),
            ("producer_id", "Producer id"),
            ("coordinator", "Coordinator"),
            ("started", "Started"),
            ("partitions", "Partitions"),
        ),
        "Transactions",
        empty="No transactional ids",
    )
    heading("Hanging transactions", level=2)
    ui.label(
        "An open transaction that no coordinator will end stops read_committed consumers of its "
        "partition. The search reads the producer state of all partitions."
    ).classes("console-wrap console-muted")
    area = ui.column().classes("full-width no-wrap")
    ui.button("Find hanging transactions", icon="search", on_click=lambda: _find(view, area)).props(
        "no-caps outline"
    )


async def _find(view: View, area: ui.column) -> None:
    try:
        rows: list[JsonObject] = await view.api.get("/cluster/transactions/hanging")
    except ApiCallError as error:
        notify_error(error)
        return

    async def abort(row: dict[str, object]) -> None:
        dialog = ActionDialog(
            view,
            "Abort transaction",
            lambda: actions.abort_transaction(row),
            lambda _: _find(view, area),
            message="Transaction aborted",
        )
        with dialog.fields:
            ui.label(
                f"Producer {row['producer_id']} in {row['key']} from offset {row['start_offset']}"
            )
        dialog.open()

    for row in rows:
        row["key"] = f"{row['topic']}-{row['partition']}"
        row["last"] = time_text(row["last_timestamp"])
    area.clear()
    with area:
        plain_table(
            rows,
            (
                ("key", "Partition"),
                ("producer_id", "Producer id"),
                ("producer_epoch", "Epoch"),
                ("start_offset", "First offset"),
                ("last", "Last record"),
            ),
            "Hanging transactions",
            empty="No hanging transactions found",
            title=False,
            button=RowButton("Abort", "cancel", abort) if view.may(Role.ADMIN) else None,
        )


def time_text(time_ms: int | None) -> str:
    """Returns a time in UTC.

    >>> time_text(0), time_text(None)
    ('1970-01-01 00:00:00 UTC', '-')
    """
    if time_ms is None or time_ms < 0:
        return "-"
    return datetime.fromtimestamp(time_ms / 1000, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
