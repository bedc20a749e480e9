"""kafka-dump-log: print segments, indexes and snapshots in the format of Kafka's tool."""

import argparse
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from barnabas.cli.apache.flags import say, simple_class_name, warn_without_effect
from barnabas.cli.apache.message_formatters import message_data
from barnabas.cli.framework.output import CHECK_FAILED, DONE
from barnabas.cli.log_files import (
    base_offset,
    control_of,
    entries_of,
    kind_of,
    mismatches,
    sanity_problem,
)
from barnabas.model.errors import BarnabasError, ConfigError
from barnabas.records.record import RawRecord
from barnabas.wire.coordinator_records import (
    maybe_decode_offsets_record,
    maybe_decode_transaction_record,
    version_of,
)

EXAMPLE = "barnabas kafka-dump-log --files data/orders-0/00000000000000000000.log --print-data-log"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--files", required=True, metavar="FILE,FILE")
    parser.add_argument("--print-data-log", action="store_true")
    parser.add_argument("--deep-iteration", action="store_true")
    parser.add_argument("--skip-record-metadata", action="store_true")
    parser.add_argument("--verify-index-only", action="store_true", help="compare with the log")
    parser.add_argument("--index-sanity-check", action="store_true", help="size and order only")
    parser.add_argument("--max-message-size", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--max-bytes", type=int, default=sys.maxsize)
    parser.add_argument("--value-decoder-class", default="StringDecoder", metavar="CLASS")
    parser.add_argument("--key-decoder-class", default="StringDecoder", metavar="CLASS")
    parser.add_argument("--offsets-decoder", action="store_true")
    parser.add_argument("--transaction-log-decoder", action="store_true")


def run(arguments: argparse.Namespace) -> int:
    decoder(arguments.key_decoder_class)
    decoder(arguments.value_decoder_class)
    warn_without_effect(arguments, {"--max-message-size": "batches of any size are read"})
    sound = True
    for name in arguments.files.split(","):
        path = Path(name)
        say(f"Dumping {path}")
        dump = _segment if kind_of(path) == "segment" else _other
        sound = dump(path, arguments) and sound
    return DONE if sound else CHECK_FAILED


def _other(path: Path, arguments: argparse.Namespace) -> bool:
    """Prints an index, a snapshot or a checkpoint; returns whether it is valid."""
    if arguments.index_sanity_check:
        problem = sanity_problem(path)
        say(f"{path} passed sanity check." if problem is None else f"{path}: {problem}")
        return problem is None
    if not arguments.verify_index_only:
        for entry in entries_of(path):
            say(_LINES[kind_of(path)](entry))
    wrong = list(mismatches(path))
    if wrong:
        say(f"Mismatches in :{path}")
    for kind, said, found in wrong:
        shown = "none" if found is None else found
        say(f"  Index {kind}: {said}, log {kind}: {shown}")
    return not wrong


def _segment(path: Path, arguments: argparse.Namespace) -> bool:
    say(f"Log starting offset: {base_offset(path)}")
    decoding = arguments.offsets_decoder or arguments.transaction_log_decoder
    records = arguments.print_data_log or arguments.deep_iteration or decoding
    sound = True
    for entry in entries_of(path, records=records):
        if entry["type"] == "corrupt":
            say(f"Found {entry['bytes']} invalid bytes at the end of {path.name}")
            return False
        if entry["position"] >= arguments.max_bytes:
            break
        sound = sound and entry["valid"]
        say(_batch(entry))
        if isinstance(entry.get("records"), list):
            for index, record in enumerate(entry["records"]):
                say(_record(entry, index, record, arguments))
    return sound


def _batch(entry: dict[str, Any]) -> str:
    horizon = entry["delete_horizon_ms"]
    shown = "OptionalLong.empty" if horizon is None else f"OptionalLong[{horizon}]"
    return (
        f"baseOffset: {entry['base_offset']} lastOffset: {entry['last_offset']} "
        f"count: {entry['count']} baseSequence: {entry['base_sequence']} "
        f"lastSequence: {entry['last_sequence']} producerId: {entry['producer_id']} "
        f"producerEpoch: {entry['producer_epoch']} partitionLeaderEpoch: {entry['leader_epoch']} "
        f"isTransactional: {_word(entry['transactional'])} isControl: {_word(entry['control'])} "
        f"deleteHorizonMs: {shown} position: {entry['position']} "
        f"{entry['timestamp_type']}: {entry['max_timestamp']} size: {entry['size']} "
        f"magic: {entry['magic']} compresscodec: {entry['codec']} crc: {entry['crc']} "
        f"isvalid: {_word(entry['valid'])}"
    )


def _record(
    batch: dict[str, Any], index: int, record: RawRecord, arguments: argparse.Namespace
) -> str:
    sequence = batch["base_sequence"] + index if batch["base_sequence"] >= 0 else -1
    names = ",".join(name for name, _ in record.headers)
    line = ""
    if not arguments.skip_record_metadata:
        line = (
            f"| offset: {record.offset} {batch['timestamp_type']}: {record.timestamp} "
            f"keySize: {_size(record.key)} valueSize: {_size(record.value)} "
            f"sequence: {sequence} headerKeys: [{names}]"
        )
    if batch["control"]:
        kind, epoch = control_of(record)
        if arguments.skip_record_metadata:
            return line
        return f"{line} endTxnMarker: {kind} coordinatorEpoch: {epoch}"
    if arguments.offsets_decoder or arguments.transaction_log_decoder:
        return line + _decoded(record, offsets=arguments.offsets_decoder)
    if arguments.print_data_log:
        key, value = decoder(arguments.key_decoder_class), decoder(arguments.value_decoder_class)
        line += "" if record.key is None else f" key: {key(record.key)}"
        line += "" if record.value is None else f" payload: {value(record.value)}"
    return line


def _decoded(record: RawRecord, *, offsets: bool) -> str:
    """Returns key and value of a coordinator's record as text."""
    decode = maybe_decode_offsets_record if offsets else maybe_decode_transaction_record
    try:
        found = decode(record.key or b"", record.value)
    except BarnabasError as error:
        return f" error: {error}"
    if found is None:
        return " key: unknown"
    kind = version_of(record.key or b"")
    key = {"type": str(kind), "data": message_data(found[0], kind)}
    line = f" key: {json.dumps(key, separators=(',', ':'))}"
    if record.value is None or found[1] is None:
        return f"{line} payload: <DELETE>"
    version = version_of(record.value)
    value = {"version": str(version), "data": message_data(found[1], version)}
    return f"{line} payload: {json.dumps(value, separators=(',', ':'))}"


def _producer(entry: dict[str, Any]) -> str:
    first = entry["txn_first_offset"]
    shown = "OptionalLong.empty" if first is None else f"OptionalLong[{first}]"
    line = (
        f"producerId: {entry['producer_id']} producerEpoch: {entry['producer_epoch']} "
        f"coordinatorEpoch: {entry['coordinator_epoch']} currentTxnFirstOffset: {shown} "
        f"lastTimestamp: {entry['last_timestamp']} "
    )
    if entry["last_sequence"] is not None:
        line += (
            f"firstSequence: {entry['first_sequence']} lastSequence: {entry['last_sequence']} "
            f"lastOffset: {entry['last_offset']} "
            f"offsetDelta: {entry['last_sequence'] - entry['first_sequence']} "
            f"timestamp: {entry['last_timestamp']}"
        )
    return line


_LINES: dict[str, Any] = {
    "index": lambda e: f"offset: {e['offset']} position: {e['position']}",
    "timeindex": lambda e: f"timestamp: {e['timestamp']} offset: {e['offset']}",
    "txnindex": lambda e: (
        f"version: {e['version']} producerId: {e['producer_id']} firstOffset: {e['first_offset']} "
        f"lastOffset: {e['last_offset']} lastStableOffset: {e['last_stable_offset']}"
    ),
    "snapshot": _producer,
    "epochs": lambda e: f"epoch: {e['epoch']} startOffset: {e['start_offset']}",
    "offsets": lambda e: f"topic: {e['topic']} partition: {e['partition']} offset: {e['offset']}",
}


def _size(data: bytes | None) -> int:
    return -1 if data is None else len(data)


def _text(data: bytes) -> str:
    return data.decode(errors="replace")


def _number(size: int) -> Callable[[bytes], str]:
    def read(data: bytes) -> str:
        if len(data) != size:
            raise ConfigError(f"a number of {size} bytes was expected, not {len(data)} bytes")
        return str(int.from_bytes(data, "big", signed=True))

    return read


_DECODERS: dict[str, Callable[[bytes], str]] = {
    "StringDecoder": _text,
    "DefaultDecoder": _text,
    "IntegerDecoder": _number(4),
    "LongDecoder": _number(8),
}


def decoder(name: str) -> Callable[[bytes], str]:
    """Returns the function for one of Kafka's decoder classes.

    Raises:
        ConfigError: The class is unknown.
    """
    found = _DECODERS.get(simple_class_name(name))
    if found is None:
        raise ConfigError(f"decoder {name!r} is unknown; known are {', '.join(_DECODERS)}")
    return found


def _word(value: bool) -> str:
    return "true" if value else "false"
