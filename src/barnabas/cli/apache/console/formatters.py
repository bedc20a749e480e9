"""The formatters of the console consumer: Apache's by their class names, and Python classes.

A Python formatter is named as `package.module:Class`. It has `render(record)`, which returns bytes
or text, or `write_to(record, out)` with a binary stream, as Kafka's `writeTo`. If it has
`configure(properties)` and `close()`, they are called at the start and at the end.
"""

import argparse
import io
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Protocol

from barnabas.cli.apache.console.message_formatter import MessageFormatter
from barnabas.cli.apache.console.message_json import data_of
from barnabas.cli.apache.flags import class_word
from barnabas.cli.framework.loading import make_plugin
from barnabas.cli.framework.settings import key_values, read_properties
from barnabas.model.errors import BarnabasError, ConfigError
from barnabas.records.record import Record
from barnabas.wire.coordinator_records import (
    maybe_decode_offsets_record,
    maybe_decode_transaction_record,
    version_of,
)
from barnabas.wire.message import Message

Decode = Callable[[bytes, bytes | None], tuple[Message, Message | None] | None]


class Formatter(Protocol):
    def render(self, record: Record) -> bytes: ...


class LoggingMessageFormatter(MessageFormatter):
    """The default one; Apache's writes to the log as well."""


class NoOpMessageFormatter:
    """Prints nothing; for measuring."""

    def render(self, record: Record) -> bytes:
        return b""


class OffsetsMessageFormatter:
    """`__consumer_offsets`: committed offsets, a line of JSON each."""

    def render(self, record: Record) -> bytes:
        return _decoded(record, maybe_decode_offsets_record, "OffsetCommitKey")


class GroupMetadataMessageFormatter:
    """`__consumer_offsets`: the groups themselves."""

    def render(self, record: Record) -> bytes:
        return _decoded(record, maybe_decode_offsets_record, "GroupMetadataKey")


class TransactionLogMessageFormatter:
    """`__transaction_state`."""

    def render(self, record: Record) -> bytes:
        return _decoded(record, maybe_decode_transaction_record, "TransactionLogKey")


class PythonFormatter:
    """A formatter of the user's own. Its exceptions are errors of one message."""

    def __init__(self, name: str, properties: Mapping[str, str]) -> None:
        self._name = name
        made = make_plugin(name, "--formatter")
        if not hasattr(made, "render") and not hasattr(made, "write_to"):
            raise ConfigError(
                f"--formatter {name}: the class must have render(record) or write_to(record, out)"
            )
        self._made = made
        if hasattr(made, "configure"):
            try:
                made.configure(dict(properties))
            except Exception as error:
                raise ConfigError(f"--formatter {name}: {type(error).__name__}: {error}") from error

    def render(self, record: Record) -> bytes:
        try:
            shown = self._render(record)
        except Exception as error:
            raise ValueError(f"{self._name}: {type(error).__name__}: {error}") from error
        return shown.encode(errors="surrogateescape") if isinstance(shown, str) else shown

    def close(self) -> None:
        if hasattr(self._made, "close"):
            self._made.close()

    def _render(self, record: Record) -> bytes | str:
        if hasattr(self._made, "render"):
            shown: bytes | str = self._made.render(record)
            return shown
        out = io.BytesIO()
        self._made.write_to(record, out)
        return out.getvalue()


def close_formatter(formatter: Formatter) -> None:
    """Tell a formatter of the user's own that no message follows."""
    if isinstance(formatter, PythonFormatter):
        formatter.close()


def formatter_of(arguments: argparse.Namespace) -> Formatter:
    """The formatter that --formatter names, with its properties."""
    given_name = arguments.formatter or "DefaultMessageFormatter"
    properties: dict[str, str] = {}
    if arguments.formatter_config is not None:
        properties.update(read_properties(Path(arguments.formatter_config)))
    properties.update(key_values(arguments.formatter_properties, "--property"))
    for kind in ("key", "value"):
        given = getattr(arguments, f"{kind}_deserializer")
        if given:
            properties[f"{kind}.deserializer"] = given
    if ":" in given_name:
        return PythonFormatter(given_name, properties)
    name = class_word(given_name)
    if name == "DefaultMessageFormatter":
        return MessageFormatter(properties)
    if name == "LoggingMessageFormatter":
        return LoggingMessageFormatter(properties)
    plain: dict[str, type[Formatter]] = {
        "NoOpMessageFormatter": NoOpMessageFormatter,
        "OffsetsMessageFormatter": OffsetsMessageFormatter,
        "GroupMetadataMessageFormatter": GroupMetadataMessageFormatter,
        "TransactionLogMessageFormatter": TransactionLogMessageFormatter,
    }
    if name not in plain:
        raise ConfigError(
            f"formatter {given_name!r} is not known; there are DefaultMessageFormatter,"
            f" LoggingMessageFormatter, {', '.join(plain)},"
            " and Python classes as package.module:Class"
        )
    return plain[name]()


def _decoded(record: Record, decode: Decode, wanted: str) -> bytes:
    """A line for records of the wanted kind, nothing for others.

    Apache's formatters put no line end after a record; nobody could read two of them.
    """
    key = record.key or b""
    try:
        found = decode(key, record.value)
    except BarnabasError as error:
        raise ValueError(str(error)) from error
    if found is None or type(found[0]).__name__ != wanted:
        return b""
    kind = version_of(key)
    value = None
    if record.value is not None and found[1] is not None:
        version = version_of(record.value)
        value = {"version": version, "data": data_of(found[1], version)}
    line = {"key": {"type": kind, "data": data_of(found[0], kind)}, "value": value}
    return json.dumps(line, separators=(",", ":")).encode() + b"\n"
