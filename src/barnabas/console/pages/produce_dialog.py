"""Dialogs that produce a record from fields, or records from a file."""

from collections.abc import Awaitable, Callable
from typing import Any

from nicegui import events, ui

from barnabas.console.actions import topics as actions
from barnabas.console.actions.action import Action
from barnabas.console.api_client import ApiCallError, JsonObject
from barnabas.console.models.common import counted
from barnabas.console.pages.dialogs import ActionDialog, copy_buttons, whole
from barnabas.console.pages.frame import heading
from barnabas.console.pages.view import View, notify_error

_ENCODINGS = {"utf-8": "Text", "base64": "Base64", "null": "Null"}


def produce_dialog(
    view: View,
    topic: str,
    given: dict[str, object],
    done: Callable[[Any], Awaitable[None] | None],
    title: str = "Produce",
) -> ActionDialog:
    """Returns a dialog with the fields of a record; `given` is a RecordDetail to start from."""

    def make() -> Action:
        return actions.produce_record(topic, fields.record())

    dialog = ActionDialog(view, title, make, done, message="Record produced")
    with dialog.fields:
        fields = RecordFields(given)
    return dialog


class RecordFields:
    """Input elements for the parts of a record."""

    def __init__(self, given: JsonObject) -> None:
        self._key = _part("Key", given.get("raw_key"), "null")
        self._value = _part("Value", given.get("raw_value"), "utf-8")
        lines = [_header_line(item) for item in given.get("raw_headers") or ()]
        self._headers = ui.textarea("Headers, NAME=VALUE per line", value="\n".join(lines))
        self._headers.props("outlined dense autogrow").classes("full-width console-mono")
        with ui.row().classes("full-width no-wrap"):
            self._partition = ui.number("Partition", min=0, precision=0)
            self._timestamp = ui.number("Timestamp, ms", min=0, precision=0)
            for field in (self._partition, self._timestamp):
                field.props('outlined dense hint="empty: automatic"').classes("col")

    def record(self) -> JsonObject:
        """Returns the fields of the API's NewRecord; ValueError names a wrong one."""
        key, key_encoding = self._read(self._key)
        value, value_encoding = self._read(self._value)
        record: JsonObject = {
            "key": key,
            "key_encoding": key_encoding,
            "value": value,
            "value_encoding": value_encoding,
            "headers": parse_headers(self._headers.value or ""),
            "partition": whole(self._partition.value),
            "timestamp": whole(self._timestamp.value),
        }
        if key is None and value is None:
            raise ValueError("The record needs a key or a value")
        return record

    @staticmethod
    def _read(part: tuple[ui.textarea, ui.select]) -> tuple[str | None, str]:
        text, encoding = part
        if encoding.value == "null":
            return None, "utf-8"
        return text.value or "", str(encoding.value)


def _part(label: str, raw: JsonObject | None, default: str) -> tuple[ui.textarea, ui.select]:
    given = raw or {}
    chosen = default if raw is None else (given.get("encoding") or "null")
    with ui.row().classes("full-width no-wrap items-start"):
        text = ui.textarea(label, value=given.get("text") or "")
        text.props("outlined dense autogrow").classes("col console-mono")
        encoding = ui.select(_ENCODINGS, value=chosen, label=f"{label} as")
        encoding.props("outlined dense").style("width: 110px")
    if default == "null":
        # If the user types a key, the record gets this key.
        text.on_value_change(
            lambda event: (
                encoding.set_value("utf-8") if event.value and encoding.value == "null" else None
            )
        )
    return text, encoding


def _header_line(item: JsonObject) -> str:
    value = item["value"]
    if value["encoding"] is None:
        return str(item["name"])
    prefix = "base64:" if value["encoding"] == "base64" else ""
    return f"{item['name']}={prefix}{value['text']}"


def parse_headers(text: str) -> list[JsonObject]:
    """Parses lines of NAME=VALUE, NAME=base64:BYTES, or NAME for a null value.

    >>> parse_headers("a=1\\nb=base64:/w==\\nc")[1:]
    [{'name': 'b', 'value': '/w==', 'encoding': 'base64'}, {'name': 'c', 'value': None}]
    """
    found: list[JsonObject] = []
    for line in text.splitlines():
        name, equals, value = line.partition("=")
        if not line.strip():
            continue
        if not equals:
            found.append({"name": name, "value": None})
        elif value.startswith("base64:"):
            found.append({"name": name, "value": value[7:], "encoding": "base64"})
        else:
            found.append({"name": name, "value": value, "encoding": "utf-8"})
    return found


def import_dialog(view: View, topic: str, done: Callable[[], Awaitable[None]]) -> ui.dialog:
    """Returns a dialog that sends the lines of a file as records."""
    dialog = ui.dialog().props('aria-label="Produce file"')

    async def send(event: events.UploadEventArguments) -> None:
        content = await event.file.read()
        upload.reset()  # otherwise the same file, corrected, could not be chosen again
        action = actions.produce_file(topic, form.value, event.file.name)
        try:
            found = await view.api.send_content(action.path, content, action.query)
        except ApiCallError as error:
            notify_error(error)
            return
        ui.notify(
            f"{counted(found['records'], 'record')} produced",
            type="positive",
            position="bottom-right",
        )
        dialog.close()
        await done()

    with dialog, ui.card().style("width: 480px; max-width: 94vw"):
        heading("Produce file", level=2)
        form = ui.select(
            {"jsonl": "JSON lines, as downloaded", "lines": "Each line is a value"},
            value="jsonl",
            label="Format",
        ).props("outlined dense")
        form.classes("full-width")
        upload = ui.upload(label="Choose a file", auto_upload=True, on_upload=send)
        upload.props('flat bordered aria-label="File"').classes("full-width")
        with ui.row().classes("full-width items-center"):
            copy_buttons(view, lambda: actions.produce_file(topic, form.value))
            ui.space()
            ui.button("Close", on_click=dialog.close).props("flat no-caps")
    return dialog
