"""The page of one record: its permanent link, all its parts, and producing it again."""

from typing import Any
from urllib.parse import quote

from nicegui import ui

from barnabas.console.actions import topics as actions
from barnabas.console.api_client import JsonObject
from barnabas.console.models.common import counted
from barnabas.console.pages.dialogs import copy_buttons
from barnabas.console.pages.frame import heading
from barnabas.console.pages.produce_dialog import produce_dialog
from barnabas.console.pages.records import FORMATS, notes, time_text
from barnabas.console.pages.view import View
from barnabas.console.security.identity import Role


async def record_page(view: View) -> None:
    """One record with headers, batch, codec, producer and transaction state."""
    topic, partition = view.params["topic"], int(view.params["partition"])
    offset = int(view.params["offset"])
    path = f"/topics/{quote(topic)}/partitions/{partition}/records/{offset}"
    form = view.query.get("format", "auto")
    detail = await view.api.get(path, value_format=form if form in FORMATS else "auto")
    record = detail["record"]
    here = f"/topics/{quote(topic)}/records/{partition}"
    with ui.element("div").classes("console-row"):
        if offset > 0:
            ui.link("Previous offset", f"{here}/{offset - 1}").classes("console-link")
        ui.link("Next offset", f"{here}/{offset + 1}").classes("console-link")
        ui.link(
            "All records from here",
            f"/topics/{quote(topic)}/records?start=offset&offset={offset}&partition={partition}",
        ).classes("console-link")
        ui.space()
        _buttons(view, detail, path)
    _properties(record)
    _headers(record)
    _content("Key", record["key"])
    ui.select(FORMATS, value=form if form in FORMATS else "auto", label="Value format").props(
        "outlined dense"
    ).style("width: 220px").on_value_change(
        lambda event: ui.navigate.to(f"{here}/{offset}?format={event.value}")
    )
    _content("Value", record["value"])


def _buttons(view: View, detail: JsonObject, path: str) -> None:
    record = detail["record"]
    query = {
        "start": "offset",
        "offset": record["offset"],
        "partition": record["partition"],
        "limit": 1,
    }
    copy_buttons(view, lambda: actions.read_records(record["topic"], query))

    def copy_link() -> None:
        ui.run_javascript("navigator.clipboard.writeText(location.href)")
        ui.notify("Link copied", position="bottom-right")

    ui.button("Copy link", icon="link", on_click=copy_link).props("flat dense no-caps")
    ui.button(
        "Download value",
        icon="download",
        on_click=lambda: ui.download.from_url(f"/api/v1{path}/value"),
    ).props("flat dense no-caps")
    if view.may(Role.OPERATE) and detail["raw_headers"] is not None:

        def open_new(result: Any) -> None:
            stored = result["records"][0]
            ui.navigate.to(
                f"/topics/{quote(record['topic'])}/records/{stored['partition']}/{stored['offset']}"
            )

        dialog = produce_dialog(view, record["topic"], detail, open_new, "Produce again")
        ui.button("Produce again", icon="replay", on_click=dialog.open).props("no-caps")


def _properties(record: JsonObject) -> None:
    batch = record["batch"]
    rows = {
        "Partition and offset": f"{record['partition']} / {record['offset']}",
        "Timestamp": f"{time_text(record['timestamp'])} UTC ({record['timestamp_type']})",
        "Bytes of key, value, headers": f"{record['size_bytes']:,}",
        "Transaction": record["transaction"] or "none",
        "Codec": batch["codec"],
        "Batch": (
            f"offsets {batch['base_offset']} to {batch['last_offset']}, "
            f"{counted(batch['records'], 'record')}, "
            f"{batch['size_bytes']:,} bytes, format {batch['magic']}"
        ),
        "Producer": (
            f"id {batch['producer_id']}, epoch {batch['producer_epoch']}, "
            f"first sequence {batch['base_sequence']}"
            if batch["producer_id"] >= 0
            else "not idempotent"
        ),
        "Leader epoch": str(batch["leader_epoch"]),
        "Notes": notes(record) or "-",
    }
    with ui.element("dl").classes("console-grid q-ma-none"):
        for name, value in rows.items():
            with ui.element("div"):
                with ui.element("dt").classes("console-muted"):
                    ui.label(name)
                with ui.element("dd").classes("q-ma-none console-wrap"):
                    ui.label(value)


def _headers(record: JsonObject) -> None:
    heading("Headers", level=2)
    if not record["headers"]:
        ui.label("The record has no headers").classes("console-muted")
        return
    rows = [
        {"name": item["name"], "value": item["value"]["text"], "size": item["value"]["size"]}
        for item in record["headers"]
    ]
    columns = [
        {"name": name, "label": label, "field": name, "align": "left"}
        for name, label in (("name", "Name"), ("value", "Value"), ("size", "Bytes"))
    ]
    table = ui.table(columns=columns, rows=rows, pagination={"rowsPerPage": 0})
    table.classes("console-table").props(
        'flat bordered dense hide-bottom wrap-cells aria-label="Headers"'
    )


def _content(title: str, field: JsonObject) -> None:
    heading(title, level=2)
    if field["format"] == "null":
        ui.label("null").classes("console-muted")
        return
    parts = [field["format"], counted(field["size"], "byte")]
    if field["schema_id"] is not None:
        parts.append(f"schema {field['schema_id']}")
    if field["truncated"]:
        parts.append("only the beginning is shown")
    if field["problem"]:
        parts.append(field["problem"])
    ui.label(", ".join(parts)).classes("console-muted")
    with ui.card().classes("console-card").props("flat bordered"):
        ui.label(field["text"]).classes("console-mono console-wrap").props(
            f'tabindex=0 aria-label="{title} of the record"'
        ).style("max-height: 60vh; overflow: auto; width: 100%")
