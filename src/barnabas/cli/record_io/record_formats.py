"""Prints records as table, NDJSON, YAML, TSV, raw values, or by a printf format.

JSON and YAML have the documents of `barnabas.records.documents`.

The printf format is given as `-f '%t/%p/%o %k=%v\\n'`:

    %t topic     %p partition   %o offset       %T timestamp in ms   %d timestamp, ISO 8601
    %k key       %K its length  %v %s value     %V %S its length     (-1 for null)
    %h headers as name=value,…  %%              \\n \\t \\r \\0 \\xHH as in C

Keys and values are printed as bytes without conversion; null is printed as `null_text`.
"""

import io
import re
from collections.abc import Callable
from typing import BinaryIO

from barnabas.cli.framework.output import cell, json_line, yaml_text
from barnabas.model.errors import ConfigError
from barnabas.records.documents import encode_bytes, record_document
from barnabas.records.record import Record
from barnabas.runtime.clock import iso_time

_PIECE = re.compile(r"%(.?)|([^%]+)", re.DOTALL)
_ESCAPE = re.compile(r"\\(x[0-9a-fA-F]{2}|.)", re.DOTALL)
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "0": "\0", "\\": "\\"}
Piece = Callable[[Record], bytes]
FORMATS = ("table", "json", "yaml", "tsv", "raw")
_TABLE = "{:<20} {:>9} {:>10}  {:<24}  {:<16}  {}"
_HEADS = ("TOPIC", "PARTITION", "OFFSET", "TIMESTAMP", "KEY", "VALUE")


class RecordFormat:
    """A compiled format; `render` returns the bytes of one record."""

    def __init__(self, text: str, null_text: bytes = b"") -> None:
        self._null = null_text
        self._pieces = [self._piece(match, text) for match in _PIECE.finditer(unescape(text))]

    def render(self, record: Record) -> bytes:
        return b"".join(piece(record) for piece in self._pieces)

    def _piece(self, match: re.Match[str], text: str) -> Piece:
        letter, literal = match.groups()
        if literal is not None:
            data = literal.encode(errors="surrogateescape")
            return lambda _: data
        fields = self._fields()
        if letter not in fields:
            known = " ".join(f"%{name}" for name in fields)
            raise ConfigError(f"format {text!r}: unknown %{letter}; known are {known}")
        return fields[letter]

    def _fields(self) -> dict[str, Piece]:
        null = self._null

        def shown(data: bytes | None) -> bytes:
            return null if data is None else data

        return {
            "t": lambda r: r.topic.encode(),
            "p": lambda r: b"%d" % r.partition,
            "o": lambda r: b"%d" % r.offset,
            "T": lambda r: b"%d" % r.timestamp,
            "d": lambda r: (iso_time(r.timestamp) or "").encode(),
            "k": lambda r: shown(r.key),
            "K": lambda r: b"%d" % _length(r.key),
            "v": lambda r: shown(r.value),
            "s": lambda r: shown(r.value),
            "V": lambda r: b"%d" % _length(r.value),
            "S": lambda r: b"%d" % _length(r.value),
            "h": lambda r: b",".join(_header(name, value, null) for name, value in r.headers),
            "%": lambda _: b"%",
        }


def unescape(text: str) -> str:
    """Replaces the escapes of C; bytes above ASCII become surrogates and are written unchanged."""

    def replaced(match: re.Match[str]) -> str:
        code = match[1]
        if code.startswith("x") and len(code) > 1:
            return bytes([int(code[1:], 16)]).decode(errors="surrogateescape")
        return _ESCAPES.get(code, match[0])

    return _ESCAPE.sub(replaced, text)


def _length(data: bytes | None) -> int:
    return -1 if data is None else len(data)


def _header(name: str, value: bytes | None, null: bytes) -> bytes:
    return name.encode(errors="surrogateescape") + b"=" + (null if value is None else value)


class RecordPrinter:
    """Writes records and flushes after each call."""

    def __init__(self, form: str, printf: str | None, out: BinaryIO) -> None:
        self._out = _buffered(out)
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


def _buffered(out: BinaryIO) -> BinaryIO:
    """Returns a stream with a buffer.

    Standard output has none with PYTHONUNBUFFERED, which is usual in containers: each record would
    be a system call.
    """
    if isinstance(out, io.RawIOBase):
        return open(out.fileno(), "wb", closefd=False)
    return out


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
