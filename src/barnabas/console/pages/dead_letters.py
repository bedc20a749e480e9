"""The page of dead letters: by source topic and reason, one letter, and sending letters back."""

import asyncio
from urllib.parse import quote

from nicegui import background_tasks, ui

from barnabas.console.actions import groups as actions
from barnabas.console.actions.action import Action
from barnabas.console.api_client import ApiCallError, JsonObject
from barnabas.console.models.common import counted
from barnabas.console.pages.dialogs import copy_buttons, made
from barnabas.console.pages.frame import heading
from barnabas.console.pages.produce_dialog import RecordFields
from barnabas.console.pages.records import field_text, time_text
from barnabas.console.pages.tables import button_cells, link_cells
from barnabas.console.pages.view import View, notify_error
from barnabas.console.security.identity import Role

_LETTER_COLUMNS = (
    ("offset", "Letter", "left"),
    ("time", "Time (UTC)", "left"),
    ("source", "Source", "left"),
    ("reason", "Reason", "left"),
    ("message", "Message", "left"),
    ("key", "Key", "left"),
    ("value", "Value", "left"),
    ("resent", "Sent back", "left"),
)
_GROUP_COLUMNS = (
    ("source", "Source topic", "left"),
    ("reason", "Reason", "left"),
    ("letters", "Letters", "right"),
    ("resent", "Sent back", "right"),
    ("example", "Newest message", "left"),
)

_ERROR_HEADERS = ("dlq.", "__connect.errors.", "kafka_dlt-")


async def list_page(view: View) -> None:
    """The dead letters of the cluster."""
    await _DeadLettersPage(view).create()


class _DeadLettersPage:
    """The elements of the page, and the filter that a click on a group sets."""

    def __init__(self, view: View) -> None:
        self._view = view
        self._filter: JsonObject = {}
        self._task: asyncio.Task[None] | None = None

    async def create(self) -> None:
        topics = await self._view.api.get("/dead-letters")
        if not topics:
            ui.label("There are no topics of dead letters, such as orders.dlq.")
            return
        names = {item["name"]: f"{item['name']} (about {item['letters']:,})" for item in topics}
        chosen = self._view.query.get("topic")
        first = chosen if chosen in names else topics[0]["name"]
        with ui.element("div").classes("console-row"):
            self._topic = ui.select(names, value=first, label="Topic of dead letters")
            self._topic.props("outlined dense").style("min-width: 260px")
            self._topic.on_value_change(self._show_topic)
            ui.button(icon="refresh", on_click=self._show_topic).props(
                'flat round aria-label="Refresh"'
            )
        heading("Reasons", level=2)
        self._groups = _table(_GROUP_COLUMNS, "Reasons")
        button_cells(self._groups, "reason", self._choose, {":label": "props.value"})
        heading("Letters", level=2)
        if self._view.may(Role.OPERATE):
            self._send_row()
        self._letters = _table(_LETTER_COLUMNS, "Letters")
        self._letters.props("selection=multiple")
        link_cells(self._letters, "offset", "props.row.href")
        self._status = ui.label("").classes("console-muted").props('role="status"')
        ui.context.client.on_delete(self._cancel)
        await self._show_topic()

    def _send_row(self) -> None:
        with ui.element("div").classes("console-row"):
            ui.button("Send back", icon="reply", on_click=self._send).props("no-caps")
            ui.button("Edit and send back", icon="edit", on_click=self._edit).props("flat no-caps")
            self._rate = ui.number("Letters per second", value=10, min=1, max=1000)
            self._target = ui.input("Target topic").props('placeholder="the source topic"')
            for field in (self._rate, self._target):
                field.props("outlined dense").style("width: 170px")
            self._stop_button = ui.button("Stop", icon="stop", on_click=self._cancel)
            self._stop_button.props("flat no-caps").set_visibility(False)
            copy_buttons(self._view, self._action)

    async def _show_topic(self) -> None:
        self._filter = {}
        await self._reload()

    async def _choose(self, row: dict[str, object]) -> None:
        self._filter = {"source": row["raw_source"], "reason": row["reason"]}
        await self._reload()

    async def _reload(self) -> None:
        path = f"/dead-letters/{quote(self._topic.value)}"
        try:
            groups = await self._view.api.get(f"{path}/groups")
            page = await self._view.api.get(f"{path}/letters", **self._filter)
        except ApiCallError as error:
            notify_error(error)
            return
        self._groups.rows[:] = [
            {
                **item,
                "id": f"{item['source']}/{item['reason']}",
                "raw_source": item["source"],
                "source": item["source"] or "-",
            }
            for item in groups["groups"]
        ]
        self._groups.update()
        self._letters.selected.clear()
        self._letters.rows[:] = [self._row(item) for item in page["items"]]
        self._letters.update()
        older = "" if page["complete"] else "; older letters are not shown"
        chosen = f" with the reason {self._filter['reason']}" if self._filter else ""
        self._status.set_text(f"{counted(len(page['items']), 'letter')}{chosen}{older}")

    def _row(self, item: JsonObject) -> JsonObject:
        record = item["record"]
        position = f"{record['partition']}/{record['offset']}"
        return {
            "id": position,
            "partition": record["partition"],
            "number": record["offset"],
            "offset": position,
            "time": time_text(record["timestamp"]),
            "source": item["source"] or "-",
            "reason": item["reason"],
            "message": item["message"],
            "key": field_text(record["key"]),
            "value": field_text(record["value"]),
            "resent": "yes" if item["resent"] else "no",
            "href": f"/topics/{quote(record['topic'])}/records/{position}",
        }

    # -- send back -----------------------------------------------------------------------------

    def _chosen(self) -> list[dict[str, int]]:
        return [
            {"partition": row["partition"], "offset": row["number"]}
            for row in self._letters.selected
        ]

    def _send(self) -> None:
        action = made(self._action)
        if action is not None:
            self._start(action)

    def _action(self, edited: dict[str, object] | None = None) -> Action:
        """Returns the action for the selected letters; ValueError has a text for the user."""
        letters = self._chosen()
        if not letters:
            raise ValueError("Select letters first")
        body = {
            "letters": letters,
            "target": (self._target.value or "").strip() or None,
            "per_second": self._rate.value or 10,
            "edited": edited,
        }
        return actions.resend(self._topic.value, body, self._view.console)

    def _start(self, action: Action) -> None:
        self._cancel()
        self._stop_button.set_visibility(True)
        self._task = background_tasks.create(self._run(action), name="send back")

    async def _run(self, action: Action) -> None:
        slot = self._letters.parent_slot
        assert slot is not None
        try:
            events = self._view.api.events(action.path, method=action.method, body=action.body)
            async for event in events:
                with slot:
                    if event["finished"]:
                        await self._reload()
                    self._status.set_text(progress_text(event))
        except ApiCallError as error:
            with slot:
                notify_error(error)
        finally:
            self._stop_button.set_visibility(False)

    def _cancel(self) -> None:
        if self._task is not None and not self._task.done():
            self._task.cancel()
        self._task = None

    async def _edit(self) -> None:
        letters = self._chosen()
        if len(letters) != 1:
            ui.notify("Select one letter to edit", type="warning", position="bottom-right")
            return
        (letter,) = letters
        topic = quote(self._topic.value)
        path = f"/topics/{topic}/partitions/{letter['partition']}/records/{letter['offset']}"
        try:
            detail = await self._view.api.get(path)
        except ApiCallError as error:
            notify_error(error)
            return
        if detail["raw_headers"] is None:
            ui.notify("The letter is too large to edit", type="warning", position="bottom-right")
            return
        own = [h for h in detail["raw_headers"] if not h["name"].startswith(_ERROR_HEADERS)]
        dialog = ui.dialog().props('aria-label="Edit and send back"')

        def make() -> Action:
            return self._action(fields.record())

        def send() -> None:
            action = made(make)
            if action is not None:
                dialog.close()
                self._start(action)

        with dialog, ui.card().style("width: 640px; max-width: 94vw"):
            heading("Edit and send back", level=2)
            fields = RecordFields({**detail, "raw_headers": own})
            with ui.row().classes("full-width items-center"):
                copy_buttons(self._view, make)
                ui.space()
                ui.button("Cancel", on_click=dialog.close).props("flat no-caps")
                ui.button("Send edited letter", on_click=send).props("no-caps")
        dialog.open()


def progress_text(event: JsonObject) -> str:
    """Returns one line about letters that are sent back."""
    text = f"{event['sent']} of {counted(event['total'], 'letter')} sent back"
    if event["skipped"]:
        text += f", {event['skipped']} were sent back before"
    if event["failed"]:
        text += f", {event['failed']} failed ({event['problem']})"
    return text


def _table(columns: tuple[tuple[str, str, str], ...], label: str) -> ui.table:
    definitions = [
        {"name": name, "label": text, "field": name, "align": align}
        for name, text, align in columns
    ]
    table = ui.table(columns=definitions, rows=[], row_key="id", pagination={"rowsPerPage": 0})
    table.classes("console-table").props(
        f'flat bordered dense hide-bottom wrap-cells aria-label="{label}"'
    )
    return table
