"""Log entries as bodies of the API."""

from collections.abc import Sequence
from dataclasses import replace

from barnabas.console.models.records import (
    DETAIL_CHARS,
    MAX_TEXT,
    PREVIEW_CHARS,
    RawField,
    RawHeader,
    RecordBody,
    RecordDetail,
    RecordField,
    RecordHeader,
)
from barnabas.console.services.records.decoding import (
    Decoded,
    DecodedRecord,
    RecordDecoder,
    hex_dump,
    visible,
)
from barnabas.console.services.records.log_entries import LogEntry
from barnabas.records.documents import encode_bytes

_HEADER_CHARS = 2000
_LARGE_BYTES = 16 * 1024


def record_body(
    entry: LogEntry, decoded: DecodedRecord, max_chars: int = PREVIEW_CHARS
) -> RecordBody:
    """Returns an entry with texts of at most `max_chars` characters; more are for one record."""
    indent = 2 if max_chars > PREVIEW_CHARS else None
    return RecordBody(
        topic=entry.topic,
        partition=entry.partition,
        offset=entry.offset,
        timestamp=entry.timestamp,
        timestamp_type="LogAppendTime" if entry.append_time else "CreateTime",
        key=_field(entry.key, decoded.key, max_chars, indent),
        value=_field(entry.value, decoded.value, max_chars, indent),
        headers=[header_body(name, value) for name, value in entry.headers],
        size_bytes=entry.size_bytes,
        transaction=entry.transaction,
        control=entry.control,
        problem=entry.problem,
        batch=entry.batch,
    )


class RecordPreviews:
    """Makes the bodies of large records when they are read; a page does not keep their bytes."""

    def __init__(self, decoder: RecordDecoder) -> None:
        self._decoder = decoder
        self._large: dict[tuple[int, int], RecordBody] = {}

    async def shorten(self, entries: list[LogEntry]) -> list[LogEntry]:
        large = [entry for entry in entries if entry.size_bytes > _LARGE_BYTES]
        if not large:
            return entries
        for entry, body in zip(large, await self.bodies(large), strict=True):
            self._large[entry.partition, entry.offset] = body
        return [
            replace(entry, key=None, value=None, headers=())
            if entry.size_bytes > _LARGE_BYTES
            else entry
            for entry in entries
        ]

    async def bodies(self, entries: Sequence[LogEntry]) -> list[RecordBody]:
        await self._decoder.prepare(entries)
        return [
            self._large.get((entry.partition, entry.offset))
            or record_body(entry, self._decoder.decode(entry))
            for entry in entries
        ]


def record_detail(entry: LogEntry, decoded: DecodedRecord) -> RecordDetail:
    """Returns one record for its own page, with its bytes if they can be edited."""
    record = record_body(entry, decoded, DETAIL_CHARS)
    if entry.size_bytes > MAX_TEXT:
        return RecordDetail(record=record)
    return RecordDetail(
        record=record,
        raw_key=_raw(entry.key),
        raw_value=_raw(entry.value),
        raw_headers=[
            RawHeader(name=visible(name), value=_raw(value)) for name, value in entry.headers
        ],
    )


def header_body(name: str, value: bytes | None) -> RecordHeader:
    if value is None:
        return RecordHeader(
            name=visible(name), value=RecordField(format="null", text="", size=None)
        )
    form = "text"
    try:
        text = visible(value[: 4 * _HEADER_CHARS].decode())
    except UnicodeDecodeError:
        form, text = "hex", hex_dump(value)
    field = RecordField(
        format=form,
        text=text[:_HEADER_CHARS],
        size=len(value),
        truncated=len(text) > _HEADER_CHARS or len(value) > 4 * _HEADER_CHARS,
    )
    return RecordHeader(name=visible(name), value=field)


def _field(data: bytes | None, decoded: Decoded, max_chars: int, indent: int | None) -> RecordField:
    if decoded.format == "text":
        text = visible(str(decoded.value)[: max_chars + 1])
    else:
        text = decoded.text(indent)
    shortened = decoded.format == "hex" and len(data or b"") > 16 * (text.count("\n") + 1)
    return RecordField(
        format=decoded.format,
        text=text[:max_chars],
        size=None if data is None else len(data),
        truncated=len(text) > max_chars or shortened,
        schema_id=decoded.schema_id,
        problem=decoded.problem,
    )


def _raw(data: bytes | None) -> RawField:
    text, encoding = encode_bytes(data)
    return RawField(text=text, encoding=encoding)
