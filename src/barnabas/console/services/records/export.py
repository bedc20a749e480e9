"""Records as files: JSON lines, CSV and Parquet, written piece by piece.

JSON lines have the fields of `barnabas consume --format json`, so `barnabas produce --format json`
and the console's own import read them back. Text columns of CSV have the encoding beside them.
"""

import csv
import io
import json
from collections.abc import AsyncIterator, Callable, Sequence
from datetime import UTC, datetime
from typing import Any

from barnabas.console.models.records import FileFormat
from barnabas.console.services.records.decoding import encode_bytes
from barnabas.console.services.records.log_entries import LogEntry
from barnabas.model.extras import missing_package

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


def record_document(entry: LogEntry) -> dict[str, Any]:
    """Returns the JSON document of a record; it keeps every byte."""
    key, key_encoding = encode_bytes(entry.key)
    value, value_encoding = encode_bytes(entry.value)
    return {
        "topic": entry.topic,
        "partition": entry.partition,
        "offset": entry.offset,
        "timestamp": entry.timestamp,
        "timestamp_iso": _iso(entry.timestamp),
        "timestamp_type": "LogAppendTime" if entry.append_time else "CreateTime",
        "key": key,
        "key_encoding": key_encoding,
        "value": value,
        "value_encoding": value_encoding,
        "headers": [_header(name, value) for name, value in entry.headers],
    }


def _header(name: str, data: bytes | None) -> dict[str, Any]:
    shown, name_encoding = encode_bytes(name.encode(errors="surrogateescape"))
    value, encoding = encode_bytes(data)
    document = {"key": shown, "value": value, "value_encoding": encoding}
    return document if name_encoding == "utf-8" else {**document, "key_encoding": name_encoding}


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


def _iso(timestamp_ms: int) -> str | None:
    try:
        moment = datetime.fromtimestamp(timestamp_ms / 1000, UTC)
    except (OverflowError, ValueError, OSError):
        return None
    return None if timestamp_ms < 0 else moment.isoformat(timespec="milliseconds")
