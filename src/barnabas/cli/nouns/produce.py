"""Write records to a topic: one per line of standard input or of files, or from arguments.

Each line is a value; -K splits it into key and value. `--format json` reads the output of
`barnabas consume --format json`, which can come from another cluster.
"""

import argparse
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from barnabas.cli.framework.connection import Connection, add_connection_options
from barnabas.cli.framework.options import STDIO, open_input
from barnabas.cli.framework.output import DONE, json_line
from barnabas.cli.record_io.record_formats import unescape
from barnabas.model.errors import ConfigError
from barnabas.model.records import Header
from barnabas.records.documents import (
    DocumentError,
    decode_bytes,
    headers_of,
    parse_document,
    timestamp_of,
)

if TYPE_CHECKING:
    from barnabas import Producer

EXAMPLE = r"""
echo 'hello' | barnabas produce orders -k customer-1 -H source=web
printf 'k1:v1\nk2:v2\n' | barnabas produce orders -K :
barnabas produce orders --value 'just this' --partition 0
barnabas produce orders -k customer-1 --tombstone
"""
WINDOW = 10_000


@dataclass(frozen=True, slots=True)
class OutgoingRecord:
    """A record to send."""

    value: bytes | None
    key: bytes | None
    headers: tuple[Header, ...]
    partition: int | None
    timestamp: int | None


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("topic", metavar="TOPIC")
    parser.add_argument(
        "files", nargs="*", default=[], metavar="FILE", help="lines to send (default: stdin)"
    )
    parser.add_argument("-k", "--key", help="key of every record")
    parser.add_argument("-K", "--key-separator", metavar="TEXT", help="separator of key and value")
    parser.add_argument(
        "-H", "--header", metavar="NAME=VALUE", action="append", default=[], help="repeatable"
    )
    parser.add_argument("-p", "--partition", type=int)
    parser.add_argument("--timestamp", type=int, metavar="MS")
    parser.add_argument(
        "--value", action="append", help="value to send instead of the input; repeatable"
    )
    parser.add_argument("--tombstone", action="store_true", help="send a null value for the key")
    parser.add_argument("--empty-as-null", action="store_true", help="send an empty value as null")
    parser.add_argument(
        "--format", choices=("lines", "json"), default="lines", help="format of the input"
    )
    parser.add_argument(
        "-v", "--verbose", action="store_true", help="print partition and offset of each record"
    )
    parser.add_argument("--acks", choices=("all", "-1", "0", "1"))
    parser.add_argument("--compression", choices=("none", "gzip", "snappy", "lz4", "zstd"))
    add_connection_options(parser)


def run(arguments: argparse.Namespace) -> int:
    options: dict[str, object] = {"linger_ms": 5}
    if arguments.acks is not None:
        options["acks"] = arguments.acks
    if arguments.compression is not None:
        options["compression_type"] = arguments.compression
    with Connection.of(arguments).producer(**options) as producer:
        outgoing = _Outgoing(producer, arguments.topic, arguments.verbose)
        try:
            for record in _records(arguments):
                outgoing.send(record)
        except (ConfigError, DocumentError):  # the line that the message names was not sent
            outgoing.finish()
            raise
        outgoing.finish()
    return DONE


class _Outgoing:
    """Sends records and reports how many were written."""

    def __init__(self, producer: "Producer", topic: str, verbose: bool) -> None:
        self._producer = producer
        self._topic = topic
        self._verbose = verbose
        self._in_flight: list[Any] = []
        self._count = 0

    def send(self, record: OutgoingRecord) -> None:
        future = self._producer.send(
            self._topic,
            record.value,
            key=record.key,
            headers=record.headers,
            partition=record.partition,
            timestamp=record.timestamp,
        )
        if future.done():
            future.result()  # raises at once if the record cannot be sent
        self._in_flight.append(future)
        if len(self._in_flight) >= WINDOW:
            self._settle()

    def finish(self) -> None:
        """Waits for the records that were sent and prints their number."""
        self._producer.flush()
        self._settle()
        records = "record" if self._count == 1 else "records"
        sys.stderr.write(f"produced {self._count} {records} to {self._topic}\n")

    def _settle(self) -> None:
        for future in self._in_flight:
            metadata = future.result()
            if self._verbose:
                written = {
                    "topic": metadata.topic,
                    "partition": metadata.partition,
                    "offset": metadata.offset,
                }
                sys.stdout.write(json_line(written) + "\n")
        self._count += len(self._in_flight)
        self._in_flight.clear()


def _records(arguments: argparse.Namespace) -> Iterator[OutgoingRecord]:
    if arguments.tombstone:
        if arguments.key is None:
            raise ConfigError("--tombstone needs --key")
        yield _outgoing(arguments, None, None)
        return
    if arguments.value is not None:
        for value in arguments.value:
            yield _outgoing(arguments, None, value.encode(errors="surrogateescape"))
        return
    for name in arguments.files or [STDIO]:
        with open_input(name) as file:
            source: Iterable[bytes] = file.buffer if hasattr(file, "buffer") else _encoded(file)
            parse = _parse_json if arguments.format == "json" else _parse_line
            for number, line in enumerate(source, 1):
                try:
                    record = parse(arguments, line.rstrip(b"\n"))
                except (ConfigError, DocumentError) as error:
                    where = f"line {number}" if name == STDIO else f"{name}, line {number}"
                    raise type(error)(f"{where}: {error}") from None
                yield record


def _encoded(lines: Iterable[str]) -> Iterator[bytes]:
    return (line.encode() for line in lines)


def _parse_line(arguments: argparse.Namespace, line: bytes) -> OutgoingRecord:
    if arguments.key_separator is None:
        return _outgoing(arguments, None, line)
    separator = unescape(arguments.key_separator).encode(errors="surrogateescape")
    key, found, value = line.partition(separator)
    if not found:
        text = line[:60].decode(errors="replace")
        raise ConfigError(f"no key separator {arguments.key_separator!r} in {text!r}")
    return _outgoing(arguments, key, value)


def _parse_json(arguments: argparse.Namespace, line: bytes) -> OutgoingRecord:
    document = parse_document(line)
    given = _outgoing(arguments, None, None)
    return OutgoingRecord(
        decode_bytes(document.get("value"), document.get("value_encoding")),
        given.key or decode_bytes(document.get("key"), document.get("key_encoding")),
        (*headers_of(document), *given.headers),
        given.partition,
        given.timestamp or timestamp_of(document),
    )


def _outgoing(
    arguments: argparse.Namespace, key: bytes | None, value: bytes | None
) -> OutgoingRecord:
    if key is None and arguments.key is not None:
        key = arguments.key.encode(errors="surrogateescape")
    if value == b"" and arguments.empty_as_null:
        value = None
    headers = []
    for text in arguments.header:
        name, equals, data = text.partition("=")
        headers.append((name, data.encode(errors="surrogateescape") if equals else None))
    return OutgoingRecord(value, key, tuple(headers), arguments.partition, arguments.timestamp)
