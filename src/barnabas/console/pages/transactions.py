"""The tab of transactions: open ones, and hanging ones with abort."""

from datetime import UTC, datetime
from typing import Any

from nicegui import ui

from barnabas.console.actions import cluster as actions
from barnabas.console.api_client import ApiCallError
from barnabas.console.pages.dialogs import ActionDialog
from barnabas.console.pages.frame import heading
from barnabas.console.pages.tables import RowButton, plain_table
from barnabas.console.pages.view import View, notify_error
from barnabas.console.security.identity import Role


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
        rows: list[dict[str, Any]] = await view.api.get("/cluster/transactions/hanging")
    except ApiCallError as error:
        notify_error(error)
        return

    async def abort(row: dict[str, Any]) -> None:
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
