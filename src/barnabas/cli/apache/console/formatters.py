"""The formatters of the console consumer, by the class names people have in their scripts."""

import argparse
import json
from pathlib import Path
from typing import Protocol

from barnabas.cli.apache.console.message_formatter import MessageFormatter
from barnabas.cli.framework.settings import key_values, read_properties
from barnabas.model.errors import BarnabasError, ConfigError
from barnabas.records.record import Record


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
        from barnabas.wire.coordinator_records import maybe_decode_offsets_record

        return _decoded(record, maybe_decode_offsets_record, "OffsetCommitKey")


class GroupMetadataMessageFormatter:
    """`__consumer_offsets`: the groups themselves."""

    def render(self, record: Record) -> bytes:
        from barnabas.wire.coordinator_records import maybe_decode_offsets_record

        return _decoded(record, maybe_decode_offsets_record, "GroupMetadataKey")


class TransactionLogMessageFormatter:
    """`__transaction_state`."""

    def render(self, record: Record) -> bytes:
        from barnabas.wire.coordinator_records import maybe_decode_transaction_record

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


def _decoded(record: Record, decode: object, wanted: str) -> bytes:
    """A line for records of the wanted kind, nothing for others."""
    try:
        found = decode(record.key or b"", record.value)  # type: ignore[operator]
    except BarnabasError as error:
        raise ValueError(str(error)) from error
    if found is None or type(found[0]).__name__ != wanted:
        return b""
    line = {"key": plain_message(found[0]), "value": plain_message(found[1])}
    return json.dumps(line, default=str).encode() + b"\n"


def plain_message(message: object) -> object:
    """A message as plain values, its fields by Kafka's names."""
    if message is None or isinstance(message, str | int | float | bool):
        return message
    if isinstance(message, bytes | memoryview):
        return bytes(message).hex()
    if isinstance(message, list):
        return [plain_message(item) for item in message]
    names = getattr(type(message), "__slots__", ())
    return {_camel(name): plain_message(getattr(message, name)) for name in names}


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)
