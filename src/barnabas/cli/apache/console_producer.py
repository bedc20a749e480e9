"""kafka-console-producer: send each line of standard input as a record.

Reader properties: parse.key, key.separator, parse.headers, headers.delimiter, headers.separator,
headers.key.separator, ignore.error, null.marker.
"""

import argparse
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from barnabas.cli.apache.flags import (
    add_bootstrap_options,
    add_client_properties,
    connection_of,
    simple_class_name,
)
from barnabas.cli.framework.connection import key_values, read_properties
from barnabas.cli.framework.output import DONE
from barnabas.cli.record_io.record_formats import unescape
from barnabas.model.errors import ConfigError, LocalError

EXAMPLE = """
barnabas kafka-console-producer --bootstrap-server localhost:9092 --topic orders \\
    --property parse.key=true --property key.separator=:
"""
LINE_READER = "LineMessageReader"
_DEFAULTS = {
    "parse.key": "false",
    "key.separator": "\t",
    "parse.headers": "false",
    "headers.delimiter": "\t",
    "headers.separator": ",",
    "headers.key.separator": ":",
    "ignore.error": "false",
    "null.marker": "",
}


class Line(NamedTuple):
    """The record of one line."""

    key: bytes | None
    value: bytes | None
    headers: tuple[tuple[str, bytes | None], ...]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--topic", required=True)
    parser.add_argument(
        "--sync", action="store_true", help="wait for the acknowledgement of each record"
    )
    parser.add_argument("--compression-codec", nargs="?", const="gzip", default=None)
    parser.add_argument("--batch-size", type=int)
    parser.add_argument("--timeout", type=int, help="linger in milliseconds")
    parser.add_argument("--request-required-acks", choices=("all", "-1", "0", "1"))
    parser.add_argument("--request-timeout-ms", type=int)
    parser.add_argument("--message-send-max-retries", type=int)
    parser.add_argument("--retry-backoff-ms", type=int)
    parser.add_argument("--max-block-ms", type=int)
    parser.add_argument("--max-memory-bytes", type=int)
    parser.add_argument("--max-partition-memory-bytes", type=int)
    parser.add_argument("--metadata-expiry-ms", type=int)
    parser.add_argument("--socket-buffer-size", type=int)
    parser.add_argument(
        "--line-reader",
        "--reader",
        default=LINE_READER,
        help="class name; only the default is supported",
    )
    parser.add_argument("--reader-config", metavar="FILE")
    parser.add_argument(
        "--property",
        "--reader-property",
        dest="reader_properties",
        metavar="KEY=VALUE",
        action="append",
        default=[],
        help="parse.key, key.separator, parse.headers, null.marker, …",
    )
    add_client_properties(parser, "producer")
    add_bootstrap_options(parser, broker_list=True)


_OPTIONS = {
    "compression_codec": "compression_type",
    "batch_size": "batch_size",
    "max_partition_memory_bytes": "batch_size",
    "timeout": "linger_ms",
    "request_required_acks": "acks",
    "request_timeout_ms": "request_timeout_ms",
    "message_send_max_retries": "retries",
    "retry_backoff_ms": "retry_backoff_ms",
    "max_block_ms": "max_block_ms",
    "max_memory_bytes": "buffer_memory",
    "metadata_expiry_ms": "metadata_max_age_ms",
    "socket_buffer_size": "send_buffer_bytes",
}


def run(arguments: argparse.Namespace) -> int:
    if simple_class_name(arguments.line_reader) != LINE_READER:
        raise ConfigError(
            f"reader {arguments.line_reader!r} is unknown; only {LINE_READER} is supported"
        )
    properties = dict(_DEFAULTS)
    if arguments.reader_config is not None:
        properties.update(read_properties(Path(arguments.reader_config)))
    given = key_values(arguments.reader_properties, "--property")
    unknown = sorted(set(given) - set(_DEFAULTS))
    if unknown:
        raise ConfigError(f"the reader has no property {unknown[0]!r}")
    properties.update(given)
    options = {
        option: getattr(arguments, flag)
        for flag, option in _OPTIONS.items()
        if getattr(arguments, flag) is not None
    }
    with connection_of(arguments).producer(**options) as producer:
        sent = []
        for line in parsed(sys.stdin.buffer, properties):
            future = producer.send(arguments.topic, line.value, key=line.key, headers=line.headers)
            if arguments.sync or future.done():
                future.result()  # raises at once if the record cannot be sent
            sent.append(future)
        producer.flush()
        for future in sent:
            future.result()
    return DONE


def parsed(lines: Iterable[bytes], properties: Mapping[str, str]) -> Iterator[Line]:
    """Yields the record of each line.

    Raises:
        LocalError: A line has no separator.
    """
    with_key = properties["parse.key"] == "true"
    with_headers = properties["parse.headers"] == "true"
    lenient = properties["ignore.error"] == "true"
    marker = properties["null.marker"]

    def null(data: bytes) -> bytes | None:
        return None if marker and data == marker.encode() else data

    for number, raw in enumerate(lines, 1):
        rest = raw.rstrip(b"\n").rstrip(b"\r")
        headers: tuple[tuple[str, bytes | None], ...] = ()
        key: bytes | None = None
        if with_headers:
            first, rest = _split_at(
                rest, properties["headers.delimiter"], "headers", number, lenient
            )
            headers = _headers(first, properties, null) if first is not None else ()
        if with_key:
            first, rest = _split_at(rest, properties["key.separator"], "key", number, lenient)
            key = None if first is None else null(first)
        yield Line(key, null(rest), headers)


def _split_at(
    line: bytes, separator: str, what: str, number: int, lenient: bool
) -> tuple[bytes | None, bytes]:
    first, found, rest = line.partition(unescape(separator).encode())
    if found:
        return first, rest
    if not lenient:
        raise LocalError(f"No {what} separator found on line number {number}: '{line.decode()}'")
    return None, line


def _headers(
    text: bytes, properties: Mapping[str, str], null: Any
) -> tuple[tuple[str, bytes | None], ...]:
    between = unescape(properties["headers.separator"]).encode()
    inside = unescape(properties["headers.key.separator"]).encode()
    found = []
    for piece in text.split(between):
        name, divided, value = piece.partition(inside)
        if not divided:
            raise LocalError(f"No header key separator found in pair '{piece.decode()}'")
        found.append((name.decode(), null(value)))
    return tuple(found)
