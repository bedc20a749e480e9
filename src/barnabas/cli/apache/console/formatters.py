"""The formatters of the console consumer, by the class names people have in their scripts."""

import argparse
import json
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from barnabas.cli.apache.console.message_formatter import MessageFormatter
from barnabas.cli.apache.console.message_json import data_of
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


def formatter_of(arguments: argparse.Namespace) -> Formatter:
    """The formatter that --formatter names, with its properties."""
    name = (arguments.formatter or "DefaultMessageFormatter").replace("$", ".").rpartition(".")[2]
    properties: dict[str, str] = {}
    if arguments.formatter_config is not None:
        properties.update(read_properties(Path(arguments.formatter_config)))
    properties.update(key_values(arguments.formatter_properties, "--property"))
    for kind in ("key", "value"):
        given = getattr(arguments, f"{kind}_deserializer")
        if given:
            properties[f"{kind}.deserializer"] = given
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
        raise ConfigError(f"formatter {arguments.formatter!r} is not known")
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
