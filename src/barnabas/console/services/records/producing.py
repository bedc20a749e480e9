"""Produces records: single ones from a form, and files line by line."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Sequence
from typing import Any, Literal, Protocol

from barnabas.console.models.records import NewRecord, ProducedRecord
from barnabas.console.services.records.decoding import decode_bytes
from barnabas.model.errors import LocalError
from barnabas.model.record_metadata import RecordMetadata
from barnabas.model.records import Header

ImportFormat = Literal["jsonl", "lines"]
MAX_LINE_BYTES = 16 * 1024 * 1024
_WINDOW = 500


class InvalidRecordError(LocalError):
    """A record to produce has an invalid part; the text names it."""


class SendsRecords(Protocol):
    """The part of the asyncio Producer that producing needs."""

    async def send(
        self,
        topic: str,
        value: Any = None,
        key: Any = None,
        headers: Any = (),
        partition: int | None = None,
        timestamp: int | None = None,
    ) -> Awaitable[RecordMetadata]: ...


async def produce(
    producer: SendsRecords, topic: str, records: Sequence[NewRecord]
) -> list[ProducedRecord]:
    """Sends records and returns where they are stored; raises the first error of a delivery."""
    given = [_arguments(record) for record in records]
    sent = [await producer.send(topic, **arguments) for arguments in given]
    stored = await asyncio.gather(*sent, return_exceptions=True)
    found = []
    for number, result in enumerate(stored):
        if isinstance(result, BaseException):
            result.add_note(f"record {number + 1} of {len(records)}; earlier ones are stored")
            raise result
        found.append(
            ProducedRecord(
                partition=result.partition, offset=result.offset, timestamp=result.timestamp
            )
        )
    return found


async def import_file(
    producer: SendsRecords, topic: str, content: AsyncIterator[bytes], form: ImportFormat
) -> int:
    """Sends each line as a record and returns their number; keeps one window of them in memory."""
    count = 0
    window: list[Awaitable[RecordMetadata]] = []
    async for line in lines_of(content):
        count += 1
        try:
            record = NewRecord(value=line.decode()) if form == "lines" else parse_document(line)
            arguments = _arguments(record)
        except (ValueError, InvalidRecordError) as error:
            await asyncio.gather(*window)
            raise InvalidRecordError(
                f"line {count}: {error}; the {count - 1} lines before it are stored"
            ) from None
        window.append(await producer.send(topic, **arguments))
        if len(window) >= _WINDOW:
            await asyncio.gather(*window)
            window.clear()
    await asyncio.gather(*window)
    return count


async def lines_of(content: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """Yields the lines of a file that arrives in pieces, without empty ones."""
    rest = b""
    async for piece in content:
        *lines, rest = (rest + piece).split(b"\n")
        if len(rest) > MAX_LINE_BYTES:
            raise InvalidRecordError(f"a line has more than {MAX_LINE_BYTES} bytes")
        for line in lines:
            if line.strip():
                yield line.rstrip(b"\r")
    if rest.strip():
        yield rest.rstrip(b"\r")


def parse_document(line: bytes) -> NewRecord:
    """Reads one line of `barnabas consume --format json`; ValueError for an invalid one."""
    try:
        document = json.loads(line)
    except RecursionError:
        raise ValueError("too deeply nested") from None
    if not isinstance(document, dict):
        raise ValueError("a JSON object is expected")
    timestamp = document.get("timestamp")
    headers = [
        {
            "name": item.get("key"),
            "value": item.get("value"),
            "encoding": item.get("value_encoding") or "utf-8",
        }
        for item in document.get("headers") or ()
    ]
    return NewRecord.model_validate(
        {
            "key": document.get("key"),
            "key_encoding": document.get("key_encoding") or "utf-8",
            "value": document.get("value"),
            "value_encoding": document.get("value_encoding") or "utf-8",
            "headers": headers,
            "timestamp": timestamp if isinstance(timestamp, int) and timestamp >= 0 else None,
        }
    )


def _arguments(record: NewRecord) -> dict[str, Any]:
    try:
        return {
            "key": decode_bytes(record.key, record.key_encoding),
            "value": decode_bytes(record.value, record.value_encoding),
            "headers": new_headers(record),
            "partition": record.partition,
            "timestamp": record.timestamp,
        }
    except ValueError as error:
        raise InvalidRecordError(str(error)) from None


def new_headers(record: NewRecord) -> list[Header]:
    return [(item.name, decode_bytes(item.value, item.encoding)) for item in record.headers]
