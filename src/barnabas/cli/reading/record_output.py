"""Records on stdout: a table that grows, NDJSON, YAML documents, TSV, raw values, or printf."""

from typing import BinaryIO

from barnabas.cli.framework.render import cell, json_line, yaml_text
from barnabas.cli.framework.times import iso_time
from barnabas.cli.reading.record_format import RecordFormat
from barnabas.cli.reading.record_json import encode_bytes, record_document
from barnabas.records.record import Record

FORMATS = ("table", "json", "yaml", "tsv", "raw")
_TABLE = "{:<20} {:>9} {:>10}  {:<24}  {:<16}  {}"
_HEADS = ("TOPIC", "PARTITION", "OFFSET", "TIMESTAMP", "KEY", "VALUE")


class RecordPrinter:
    """Writes records as they come; what was written is flushed with each call."""

    def __init__(self, form: str, printf: str | None, out: BinaryIO) -> None:
        self._out = out
        self._form = form
        self._printf = RecordFormat(printf) if printf is not None else None
        self._began = False

    def write(self, records: list[Record]) -> None:
        if not records:
            return
        if not self._began and self._printf is None and self._form == "table":
            self._out.write(_TABLE.format(*_HEADS).encode() + b"\n")
        self._began = True
        for record in records:
            self._out.write(self._line(record))
        self._out.flush()

    def _line(self, record: Record) -> bytes:
        if self._printf is not None:
            return self._printf.render(record)
        match self._form:
            case "json":
                return json_line(record_document(record)).encode() + b"\n"
            case "yaml":
                return f"---\n{yaml_text(record_document(record))}\n".encode()
            case "raw":
                return (record.value or b"") + b"\n"
            case "tsv":
                return "\t".join(_cells(record)).encode() + b"\n"
            case _:
                return _TABLE.format(*_cells(record)).rstrip().encode() + b"\n"


def _cells(record: Record) -> list[str]:
    return [
        record.topic,
        str(record.partition),
        str(record.offset),
        iso_time(record.timestamp) or "-",
        _text(record.key),
        _text(record.value),
    ]


def _text(data: bytes | None) -> str:
    text, encoding = encode_bytes(data)
    if encoding == "base64":
        return f"base64:{text}"
    return cell(text)
