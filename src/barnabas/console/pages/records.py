"""The page of a topic's records: browse, search, live tail, produce, download."""

import asyncio
from datetime import UTC, datetime
from urllib.parse import quote, urlencode

from nicegui import background_tasks, ui

from barnabas.console.actions import topics as actions
from barnabas.console.actions.action import Action
from barnabas.console.api_client import ApiCallError, JsonObject
from barnabas.console.models.common import counted
from barnabas.console.pages.dialogs import copy_buttons, whole
from barnabas.console.pages.produce_dialog import import_dialog, produce_dialog
from barnabas.console.pages.tables import link_cells
from barnabas.console.pages.view import View, error_text, notify_error
from barnabas.console.security.identity import Role

STARTS = {"newest": "Newest", "oldest": "Oldest", "offset": "Offset", "time": "Time"}
KINDS = {
    "text": "Text",
    "regex": "Regular expression",
    "jsonpath": "JSON path",
    "expression": "Expression",
}
FORMATS = {
    "auto": "Automatic",
    "json": "JSON",
    "text": "Text",
    "avro": "Avro",
    "protobuf": "Protobuf",
    "hex": "Hex",
}
_MAX_ROWS = 500
_COLUMNS = (
    ("partition", "Partition", "right", ""),
    ("offset", "Offset", "right", ""),
    ("time", "Time (UTC)", "left", "white-space: nowrap"),
    ("key", "Key", "left", ""),
    ("value", "Value", "left", ""),
    ("size", "Bytes", "right", ""),
    ("state", "Notes", "left", ""),
)


async def list_page(view: View) -> None:
    """The records of one topic."""
    await _RecordsPage(view).create()


class _RecordsPage:
    """The elements of the page, and the stream that fills the table if one is running."""

    def __init__(self, view: View) -> None:
        self._view = view
        self._topic = view.params["topic"]
        self._path = f"/topics/{quote(self._topic)}/records"
        self._task: asyncio.Task[None] | None = None
        self._cursor = ""
        self._next = self._previous = ""

    async def create(self) -> None:
        with ui.element("div").classes("console-row"):
            self._write_buttons()
        self._controls()
        self._search_row()
        self._table()
        with ui.element("div").classes("console-row"):
            self._older = ui.button("Older", icon="chevron_left", on_click=self._show_older)
            self._newer = ui.button("Newer", icon="chevron_right", on_click=self._show_newer)
            for button in (self._older, self._newer):
                button.props("flat no-caps")
            copy_buttons(self._view, self._read_action)
        ui.context.client.on_delete(lambda: self._stop())
        if self._query.value:
            await self._search()
        else:
            await self._show()

    def _controls(self) -> None:
        given = self._view.query
        with ui.element("div").classes("console-row"):
            self._start = _select(STARTS, given.get("start", "newest"), "Start")
            self._offset = ui.number("Offset", min=0, precision=0, value=_int(given.get("offset")))
            self._time = ui.input(
                "Time, UTC", placeholder="2026-01-31 12:00:00", value=given.get("time", "")
            )
            self._until = ui.input(
                "Until, UTC", placeholder="empty: the end", value=given.get("until", "")
            )
            self._offset.bind_visibility_from(self._start, "value", value="offset")
            self._time.bind_visibility_from(self._start, "value", value="time")
            self._until.bind_visibility_from(self._start, "value", value="time")
            self._partition = ui.number(
                "Partition", min=0, precision=0, value=_int(given.get("partition"))
            ).props('placeholder="all"')
            self._format = _select(FORMATS, given.get("format", "auto"), "Value format")
            self._schema = ui.input("Avro schema").props('hint="JSON; empty: by the registry"')
            self._schema.bind_visibility_from(self._format, "value", value="avro")
            for field in (self._offset, self._time, self._until, self._partition, self._schema):
                field.props("outlined dense").style("width: 180px")
            ui.button("Show", icon="visibility", on_click=self._show_first).props("no-caps")
            self._live = ui.switch("Live tail", on_change=self._switch_tail)

    def _write_buttons(self) -> None:
        with ui.button("Download", icon="download").props("outline no-caps"), ui.menu():
            for form, label in (("jsonl", "JSON lines"), ("csv", "CSV"), ("parquet", "Parquet")):
                ui.menu_item(label, on_click=lambda form=form: self._download(form))
        if self._view.may(Role.OPERATE):
            dialog = produce_dialog(self._view, self._topic, {}, lambda _: self._show_first())
            files = import_dialog(self._view, self._topic, self._show_first)
            ui.button("Produce file", icon="upload", on_click=files.open).props("outline no-caps")
            ui.button("Produce record", icon="add", on_click=dialog.open).props("no-caps")

    def _search_row(self) -> None:
        with ui.element("div").classes("console-row"):
            self._kind = _select(KINDS, self._view.query.get("kind", "text"), "Search by")
            self._kind.style("width: 180px")
            self._query = ui.input("Search for", value=self._view.query.get("search", ""))
            self._query.props("outlined dense clearable")
            self._query.classes("console-mono").style("flex: 1 1 260px")
            self._query.on("keydown.enter", self._search)
            ui.button("Search", icon="search", on_click=self._search).props("no-caps")
            self._cancel = ui.button("Cancel", icon="close", on_click=self._cancel_search)
            self._cancel.props("flat no-caps").set_visibility(False)
        self._bar = ui.linear_progress(0, show_value=False).props('aria-label="Search progress"')
        self._bar.set_visibility(False)
        self._status = ui.label("").classes("console-muted").props('role="status"')

    def _table(self) -> None:
        columns = [
            {"name": name, "label": label, "field": name, "align": align, "style": style}
            for name, label, align, style in _COLUMNS
        ]
        self._rows = ui.table(columns=columns, rows=[], row_key="id", pagination={"rowsPerPage": 0})
        self._rows.classes("console-table").props(
            'flat bordered dense hide-bottom aria-label="Records" wrap-cells'
        )
        link_cells(self._rows, "offset", "props.row.href")
        for name, width in (("key", 60), ("value", 200)):
            self._rows.add_slot(
                f"body-cell-{name}",
                '<q-td :props="props" class="console-mono console-anywhere" '
                f'style="min-width: {width}px; max-width: 640px">{{{{ props.value }}}}</q-td>',
            )

    # -- queries -------------------------------------------------------------------------------

    def _formats(self) -> dict[str, object]:
        schema = (self._schema.value or "").strip() if self._format.value == "avro" else ""
        return {"value_format": self._format.value, "avro_schema": schema or None}

    def _browse_query(self) -> dict[str, object]:
        start = self._start.value
        query: dict[str, object] = {"start": start, "partition": whole(self._partition.value)}
        if start == "offset":
            query["offset"] = whole(self._offset.value) or 0
        if start == "time":
            query["time"], query["until"] = self._times()
        return {**query, **self._formats()}

    def _times(self) -> tuple[int, int | None]:
        """Returns the chosen range in milliseconds; ValueError for the user."""
        until = (self._until.value or "").strip()
        return parse_time(self._time.value or ""), parse_time(until) if until else None

    def _read_action(self) -> Action:
        """Returns the action that reads the shown records: a search, or a read from the start."""
        if (self._query.value or "").strip():
            return actions.search_records(self._topic, self._search_query(), self._view.console)
        return actions.read_records(self._topic, self._browse_query())

    def _search_query(self) -> dict[str, object]:
        """Returns the query of a search; ValueError if the user entered an invalid value."""
        query: dict[str, object] = {
            "kind": self._kind.value,
            "query": self._query.value or "",
            "partition": whole(self._partition.value),
        }
        if self._start.value == "offset":
            query["from_offset"] = whole(self._offset.value) or 0
        if self._start.value == "time":
            query["from_time"], query["to_time"] = self._times()
        return {**query, **self._formats()}

    def _remember(self) -> None:
        """Puts the choices into the address, for reload, bookmarks and links to this view."""
        start, search = self._start.value, (self._query.value or "").strip()
        chosen: dict[str, object] = {
            "start": start if start != "newest" else None,
            "offset": whole(self._offset.value) if start == "offset" else None,
            "time": self._time.value if start == "time" else None,
            "until": self._until.value if start == "time" else None,
            "partition": whole(self._partition.value),
            "format": self._format.value if self._format.value != "auto" else None,
            "kind": self._kind.value if search and self._kind.value != "text" else None,
            "search": search,
        }
        given = {key: value for key, value in chosen.items() if value not in (None, "")}
        address = f"{self._path}?{urlencode(given)}" if given else self._path
        ui.navigate.history.replace(address)

    # -- browse --------------------------------------------------------------------------------

    async def _show_first(self) -> None:
        self._cursor = ""
        self._query.value = ""
        self._remember()
        await self._show()

    async def _show_older(self) -> None:
        self._cursor = self._previous
        await self._show()

    async def _show_newer(self) -> None:
        self._cursor = self._next
        await self._show()

    async def _show(self) -> None:
        self._stop()
        try:
            query = {**self._browse_query(), "cursor": self._cursor}
            page = await self._view.api.get(self._path, **query)
        except ValueError as error:
            ui.notify(str(error), type="warning", position="bottom-right")
            return
        except ApiCallError as error:
            notify_error(error)
            self._fill([])
            self._status.set_text(error_text(error))
            return
        self._next, self._previous = page["next"], page["previous"]
        self._newer.set_enabled(bool(self._next))
        self._older.set_enabled(bool(self._previous))
        newest_first = self._start.value == "newest"
        items = page["items"][::-1] if newest_first else page["items"]
        self._fill(items)
        total = sum(item["end"] - item["start"] for item in page["partitions"])
        self._status.set_text(count_text(len(items), total, len(page["partitions"])))

    def _fill(self, items: list[dict[str, object]]) -> None:
        self._rows.rows[:] = [row_of(item) for item in items]
        self._rows.update()
        self._rows.set_visibility(bool(items))

    # -- search and tail -----------------------------------------------------------------------

    async def _search(self) -> None:
        if not (self._query.value or "").strip():
            await self._show_first()
            return
        self._stop()
        try:
            query = self._search_query()
        except ValueError as error:
            ui.notify(str(error), type="warning", position="bottom-right")
            return
        self._remember()
        self._fill([])
        self._status.set_text("Searching")
        self._older.disable()
        self._newer.disable()
        self._bar.set_visibility(True)
        self._cancel.set_visibility(True)
        self._task = background_tasks.create(self._run_search(query), name="record search")

    async def _run_search(self, query: dict[str, object]) -> None:
        slot = self._rows.parent_slot
        assert slot is not None
        try:
            events = self._view.api.events(f"{self._path}/search", query=query)
            async for event in events:
                with slot:
                    self._show_progress(event)
        except ApiCallError as error:
            self._status.set_text(f"Search failed: {error_text(error)}")
            with slot:
                notify_error(error)
        finally:
            self._bar.set_visibility(False)
            self._cancel.set_visibility(False)

    def _show_progress(self, event: JsonObject) -> None:
        self._rows.rows.extend(row_of(item) for item in event["matches"])
        if event["matches"]:
            self._rows.update()
            self._rows.set_visibility(True)
        self._bar.set_value(event["position"] / event["total"] if event["total"] else 1)
        matches = counted(event["matched"], "match", "matches")
        text = f"{matches} in {counted(event['scanned'], 'record')}, {event['seconds']} s"
        if event["not_evaluated"]:
            text += f"; {event['not_evaluated']} could not be evaluated ({event['problem']})"
        done = event["position"] >= event["total"]
        if event["finished"] and not done:
            text += "; stopped at the limit"
        self._status.set_text(text if event["finished"] else f"Searching: {text}")

    def _cancel_search(self) -> None:
        self._stop()
        self._status.set_text(
            f"Search cancelled; {counted(len(self._rows.rows), 'match', 'matches')} so far"
        )

    async def _switch_tail(self) -> None:
        if not self._live.value:
            if self._task is not None:
                self._status.set_text(f"Live tail is off; {self._status.text}")
            self._stop()
            return
        self._stop(keep_switch=True)
        self._fill([])
        self._status.set_text("Starting the live tail")
        self._task = background_tasks.create(self._run_tail(), name="record tail")

    async def _run_tail(self) -> None:
        slot = self._rows.parent_slot
        assert slot is not None
        query = {"partition": whole(self._partition.value), **self._formats()}
        count = 0
        try:
            async for event in self._view.api.events(f"{self._path}/tail", query=query):
                if not event["items"]:
                    # The first event: the end of each partition is known, so no later record
                    # is missed. Until then the page must not promise to show new records.
                    self._status.set_text("Waiting for new records")
                    continue
                count += len(event["items"]) + event["skipped"]
                fresh = [row_of(item) for item in event["items"]][::-1]
                self._rows.rows[:] = [*fresh, *self._rows.rows][:_MAX_ROWS]
                self._rows.update()
                self._rows.set_visibility(True)
                self._status.set_text(f"{count:,} new records; the newest is first")
        except ApiCallError as error:
            self._status.set_text(f"The live tail has ended: {error_text(error)}")
            with slot:
                notify_error(error)

    def _stop(self, *, keep_switch: bool = False) -> None:
        if self._task is not None and not self._task.done():
            self._task.cancel()
        self._task = None
        if not keep_switch and self._live.value:
            self._live.value = False
        self._bar.set_visibility(False)
        self._cancel.set_visibility(False)

    def _download(self, form: str) -> None:
        try:
            given = self._search_query()
        except ValueError as error:
            ui.notify(str(error), type="warning", position="bottom-right")
            return
        query = {key: value for key, value in given.items() if value is not None}
        address = f"/api/v1{self._path}/download?{urlencode({**query, 'file_format': form})}"
        ui.download.from_url(address)


def count_text(shown: int, total: int, partitions: int) -> str:
    """Returns a line about the shown records.

    >>> count_text(50, 1200, 3)
    '50 of about 1,200 records in 3 partitions'
    >>> count_text(0, 7, 1), count_text(0, 0, 1)
    ('No records here; about 7 in the topic', 'No records')
    """
    if not total:
        return "No records"
    if not shown:
        return f"No records here; about {total:,} in the topic"
    return f"{shown} of about {counted(total, 'record')} in {counted(partitions, 'partition')}"


def row_of(item: JsonObject) -> dict[str, object]:
    """Returns the cells of a record."""
    return {
        "id": f"{item['partition']}/{item['offset']}",
        "partition": item["partition"],
        "offset": item["offset"],
        "time": time_text(item["timestamp"]),
        "key": field_text(item["key"]),
        "value": field_text(item["value"]),
        "size": item["size_bytes"],
        "state": notes(item),
        "href": f"/topics/{quote(item['topic'])}/records/{item['partition']}/{item['offset']}",
    }


def field_text(field: JsonObject) -> str:
    if field["format"] == "null":
        return "null"
    return f"{field['text']} …" if field["truncated"] else str(field["text"])


def notes(item: JsonObject) -> str:
    """Returns what is unusual about a record."""
    found = []
    if item["control"]:
        found.append(f"{item['control']} marker")
    if item["transaction"]:
        found.append(f"transaction {item['transaction']}")
    if item["problem"]:
        found.append(item["problem"])
    if item["value"]["format"] in ("avro", "protobuf", "hex", "internal"):
        found.append(item["value"]["format"])
    return ", ".join(found)


def time_text(timestamp_ms: int) -> str:
    """Returns a timestamp as UTC text.

    >>> time_text(0), time_text(-1)
    ('1970-01-01 00:00:00.000', '-')
    """
    if timestamp_ms < 0:
        return "-"
    try:
        moment = datetime.fromtimestamp(timestamp_ms / 1000, UTC)
    except (OverflowError, ValueError, OSError):
        return str(timestamp_ms)
    return moment.replace(tzinfo=None).isoformat(" ", "milliseconds")


def parse_time(text: str) -> int:
    """Returns the milliseconds of a UTC time; ValueError for the user.

    >>> parse_time("1970-01-01 00:00:01"), parse_time("1500")
    (1000, 1500)
    """
    if text.strip().isdigit():
        return int(text)
    try:
        moment = datetime.fromisoformat(text.strip())
    except ValueError:
        raise ValueError("The time must look like 2026-01-31 12:00:00") from None
    return round((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp() * 1000)


def _select(options: dict[str, str], value: str, label: str) -> ui.select:
    chosen = value if value in options else next(iter(options))
    select = ui.select(options, value=chosen, label=label).props("outlined dense")
    return select.style("min-width: 130px")


def _int(text: str | None) -> int | None:
    return int(text) if text and text.isdigit() else None
