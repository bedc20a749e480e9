"""The tab of the clients that push their metrics (KIP-714)."""

from typing import Any

from nicegui import ui

from barnabas.console.pages.plain_table import RowButton, plain_table
from barnabas.console.pages.view import View


async def client_metrics_tab(view: View) -> None:
    """The clients; a click shows the metrics of one."""
    clients = await view.api.get("/cluster/clients")
    rows = [
        {**{name: text for name, text in item.items() if name != "metrics"}, "count": len(values)}
        for item in clients
        for values in [item["metrics"]]
    ]
    area = ui.column().classes("full-width no-wrap").style("gap: 12px")

    async def show(row: dict[str, Any]) -> None:
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


def _metrics_table(client: dict[str, Any]) -> None:
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
