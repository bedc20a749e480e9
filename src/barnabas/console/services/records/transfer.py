"""Records into and out of a topic: produced from a form, imported and exported as files.

Files are JSON lines, CSV and Parquet, written piece by piece; JSON lines and plain lines are read.
JSON lines have the fields of `barnabas consume --format json`, so `barnabas produce --format json`
and the console's own import read them back. Text columns of CSV have the encoding beside them.
"""

import asyncio
import csv
import io
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from typing import Any, Literal, Protocol, TypedDict

from barnabas.console.models.records import FileFormat, NewRecord, ProducedRecord
from barnabas.console.services.records.log_entries import LogEntry
from barnabas.model.errors import LocalError
from barnabas.model.lazy_exports import missing_package
from barnabas.model.record_metadata import RecordMetadata
from barnabas.model.records import Header
from barnabas.records.documents import decode_bytes, parse_document, record_document

MEDIA_TYPES: dict[FileFormat, str] = {
    "jsonl": "application/x-ndjson",
    "csv": "text/csv; charset=utf-8",
    "parquet": "application/vnd.apache.parquet",
}
_COLUMNS = (
    "topic", "partition", "offset", "timestamp", "key", "key_encoding", "value", "value_encoding",
    "headers",
)  # fmt: skip
Chunks = AsyncIterator[Sequence[LogEntry]]
ImportFormat = Literal["jsonl", "lines"]
MAX_LINE_BYTES = 16 * 1024 * 1024
_WINDOW = 500


def writer_of(form: FileFormat) -> Callable[[Chunks], AsyncIterator[bytes]]:
    """Returns the function that turns chunks of entries into the bytes of a file.

    Raises:
        LocalError: A package for the format is not installed.
    """
    if form == "parquet":
        check_parquet()
        return parquet_file
    return csv_file if form == "csv" else json_lines


def check_parquet() -> None:
    try:
        import pyarrow.parquet  # noqa: F401 - optional extra
    except ModuleNotFoundError as error:
        raise missing_package(error) or error from error


async def json_lines(chunks: Chunks) -> AsyncIterator[bytes]:
    async for entries in chunks:
        lines = (json.dumps(record_document(entry), ensure_ascii=False) for entry in entries)
        text = "".join(f"{line}\n" for line in lines)
        if text:
            yield text.encode(errors="backslashreplace")


async def csv_file(chunks: Chunks) -> AsyncIterator[bytes]:
    yield _csv_lines([_COLUMNS])
    async for entries in chunks:
        documents = [record_document(entry) for entry in entries]
        rows = [
            [
                json.dumps(item[name]) if name == "headers" else item[name]
                for name in _COLUMNS
            ]
            for item in documents
        ]  # fmt: skip
        if rows:
            yield _csv_lines(rows)


def _csv_lines(rows: Sequence[Sequence[object]]) -> bytes:
    out = io.StringIO()
    csv.writer(out).writerows(rows)
    return out.getvalue().encode(errors="backslashreplace")


async def parquet_file(chunks: Chunks) -> AsyncIterator[bytes]:
    """Writes a row group per chunk."""
    # Optional extra, large in memory: only for this format.
    import pyarrow.parquet

    pa = pyarrow
    header = pa.struct([("key", pa.string()), ("value", pa.binary())])
    schema = pa.schema(
        [
            ("topic", pa.string()),
            ("partition", pa.int32()),
            ("offset", pa.int64()),
            ("timestamp", pa.timestamp("ms", tz="UTC")),
            ("key", pa.binary()),
            ("value", pa.binary()),
            ("headers", pa.list_(header)),
        ]
    )
    sink = _Drained()
    with pyarrow.parquet.ParquetWriter(sink, schema) as writer:
        async for entries in chunks:
            if not entries:
                continue
            writer.write_table(pa.Table.from_pylist([_row(entry) for entry in entries], schema))
            yield sink.drain()
    yield sink.drain()


class _Drained(io.RawIOBase):
    """A file that keeps only the bytes that were written since the last `drain`."""

    def __init__(self) -> None:
        super().__init__()
        self._parts: list[bytes] = []
        self._position = 0

    def writable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._position

    def write(self, data: Any) -> int:
        copied = bytes(data)
        self._parts.append(copied)
        self._position += len(copied)
        return len(copied)

    def drain(self) -> bytes:
        data = b"".join(self._parts)
        self._parts.clear()
        return data


def _row(entry: LogEntry) -> dict[str, Any]:
    return {
        "topic": entry.topic,
        "partition": entry.partition,
        "offset": entry.offset,
        "timestamp": entry.timestamp if entry.timestamp >= 0 else None,
        "key": entry.key,
        "value": entry.value,
        "headers": [
            {"key": name.encode(errors="surrogateescape").decode(errors="replace"), "value": value}
            for name, value in entry.headers
        ],
    }


class InvalidRecordError(LocalError):
    """A record to produce has an invalid part; the text names it."""


class _SendArguments(TypedDict):
    value: bytes | None
    key: bytes | None
    headers: list[Header]
    partition: int | None
    timestamp: int | None


class SendsRecords(Protocol):
    """The part of the asyncio Producer that producing needs."""

    async def send(
        self,
        topic: str,
        value: bytes | None = None,
        key: bytes | None = None,
        headers: Sequence[Header] = (),
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
            record = NewRecord(value=line.decode()) if form == "lines" else parse_record(line)
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


def parse_record(line: bytes) -> NewRecord:
    """Reads one line of `barnabas consume --format json`; ValueError for an invalid one."""
    document = parse_document(line)
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


def _arguments(record: NewRecord) -> _SendArguments:
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
