"""The record codec beside kafka-python's and aiokafka's, compiled and pure, in one run.

    python -m benchmarks.records_bench

Batches of 100-byte values without keys, as the throughput benchmarks use. Prints nanoseconds per
record and how many times slower each peer is; the best of many short runs, so that a busy
machine disturbs some of them and not the figure.
"""

import sys
import timeit
import warnings
from collections.abc import Callable
from pathlib import Path
from random import Random

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)
    from kafka.record import default_records as kafka_python

from aiokafka.record import default_records as aiokafka

from barnabas.model.records import Codec
from barnabas.records import COMPILED
from barnabas.records._append_hot import RecordAppender
from barnabas.records.arrow import take_arrow
from barnabas.records.batch import crc_ok, parse_header
from barnabas.records.builder import BatchBuilder, build_batch
from barnabas.records.reader import FetchDecoder, decode_records, records_section
from barnabas.records.validation import BatchRules, validate_batch

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from support.records import hot_records

COUNT = 1000
VALUE = b"v" * 100
KEY = b"key-12345"
HEADERS = [("trace", b"0123456789abcdef")]
DEEP = BatchRules(deep=True)


def best(action: Callable[[], object], number: int, repeat: int = 40) -> float:
    """Seconds of one call."""
    return min(timeit.repeat(action, number=number, repeat=repeat)) / number


def build_ours(headers=(), key=None, codec=Codec.NONE) -> bytes:
    builder = BatchBuilder(codec=codec, appender=RecordAppender(16384))
    append = builder.appender.append
    for timestamp in range(COUNT):
        append(timestamp, key, VALUE, headers)
    return bytes(builder.build())


def build_theirs(factory) -> bytes:
    builder = factory(2, 0, 0, -1, -1, -1, 10**7)
    for offset in range(COUNT):
        builder.append(offset, offset, None, VALUE, [])
    return bytes(builder.build())


def read_theirs(factory, batch: bytes) -> None:
    records = factory(batch)
    assert records.validate_crc()
    for record in records:
        record.value  # noqa: B018 - kafka-python decodes lazily


def arrow_columns(batch: bytes, modules) -> None:
    columns = modules["_columns_hot"].ArrowColumns()
    FetchDecoder(batch, "t", 0).take_columns(columns)
    columns.take()


def measure(implementation: str) -> dict[str, float]:
    """Nanoseconds per record of each operation on one implementation."""
    plain, rich = build_ours(), build_ours(HEADERS, KEY)
    number = 5 if implementation == "compiled" else 1
    with hot_records.use(implementation) as modules:
        cursor = modules["_records_hot"].RecordCursor
        header = parse_header(plain)
        section = records_section(plain, 0, header)
        actions = {
            "append + build": build_ours,
            "append + build, key and header": lambda: build_ours(HEADERS, KEY),
            "decode to Record": lambda: decode_records(plain, "t", 0),
            "decode to Record, key and header": lambda: decode_records(rich, "t", 0),
            "decode to Arrow buffers": lambda: arrow_columns(plain, modules),
            "raw records (broker)": lambda: cursor(section, header).raw(),
            "deep validation": lambda: validate_batch(plain, DEEP),
        }
        return {name: best(action, number) / COUNT * 1e9 for name, action in actions.items()}


def peers() -> dict[str, tuple[float, float]]:
    """(append + build, decode) in nanoseconds per record."""
    batch = build_ours()
    libraries = {
        "kafka-python": (kafka_python.DefaultRecordBatchBuilder, kafka_python.DefaultRecordBatch),
        "aiokafka (compiled)": (aiokafka.DefaultRecordBatchBuilder, aiokafka.DefaultRecordBatch),
    }
    out = {}
    for name, (builder, reader) in libraries.items():
        build = best(lambda builder=builder: build_theirs(builder), 2)
        read = best(lambda reader=reader: read_theirs(reader, batch), 2)
        out[name] = (build / COUNT * 1e9, read / COUNT * 1e9)
    return out


def report_batches() -> None:
    """The cost of a batch for the broker: mostly the checksum."""
    print("\nper batch, broker path:          header + crc     crc alone")
    for size in (16, 128, 1024):
        count = size * 1024 // 107
        builder = BatchBuilder()
        for timestamp in range(count):
            builder.append(None, VALUE, (), timestamp)
        batch = builder.build()
        header = parse_header(batch)
        rules = BatchRules(max_message_bytes=2**30, deep=False)
        whole = best(lambda batch=batch, rules=rules: validate_batch(batch, rules, now_ms=0), 20)
        crc = best(lambda batch=batch, header=header: crc_ok(batch, 0, header), 20)
        print(f"  {size:5d} KiB {whole * 1e6:32.1f} µs {crc * 1e6:10.1f} µs")


def report_validation() -> None:
    """Measures the cost of record validation beyond header and checksum, for each codec."""
    dice = Random(1)
    words = [dice.randbytes(dice.randint(2, 5)).hex().encode() for _ in range(2000)]
    print("\nvalidation of records, beyond header + crc")
    for size, count in ((100, 5000), (10_240, 90)):
        text = [b" ".join(dice.choices(words, k=size // 4))[:size] for _ in range(count)]
        for codec in Codec:
            builder = BatchBuilder(codec=codec)
            for value in text:
                builder.append(None, value, (), 0)
            batch = builder.build()
            seconds = [
                best(lambda batch=batch, rules=rules: validate_batch(batch, rules), 3, 10)
                for deep in (False, True)
                if (rules := BatchRules(max_message_bytes=2**30, deep=deep))
            ]
            added = (seconds[1] - seconds[0]) / count * 1e9
            print(f"  {size:6d} bytes, {codec.name:7} {added:10.0f} ns per record")


def report_arrow() -> None:
    """Records a second as Arrow columns and as Record objects, by records per batch and codec."""
    dice = Random(1)
    words = [dice.randbytes(dice.randint(2, 5)).hex().encode() for _ in range(2000)]
    text = [b" ".join(dice.choices(words, k=25))[:100] for _ in range(997)]
    print("\nArrow beside Record objects, thousands of records a second")
    for per_batch, total in ((1, 2000), (145, 29_000), (9000, 36_000)):
        for codec in Codec:
            data = b"".join(
                build_batch(
                    [(None, text[(base + index) % 997]) for index in range(per_batch)],
                    timestamp_ms=10**12,
                    codec=codec,
                    base_offset=base,
                )
                for base in range(0, total, per_batch)
            )
            records, arrow = (
                best(lambda take=take, data=data: take(FetchDecoder(data, "t", 0)), 1, 10)
                for take in (FetchDecoder.take, take_arrow)
            )
            print(
                f"  {per_batch:5d} per batch, {codec.name:7}{total / records / 1e3:8.0f} records"
                f"{total / arrow / 1e3:8.0f} Arrow{records / arrow:8.1f} x"
            )


def main() -> None:
    compiled = measure("compiled") if COMPILED else {}
    pure = measure("pure")
    print(f"{COUNT} records of {len(VALUE)} bytes per batch, ns per record\n")
    print(f"{'':36}{'compiled':>10}{'pure':>10}{'ratio':>8}")
    for name, slow in pure.items():
        fast = compiled.get(name, float("nan"))
        print(f"{name:36}{fast:10.0f}{slow:10.0f}{slow / fast:8.1f}")
    ours = compiled or pure
    print(f"\n{'peer':36}{'build':>10}{'x ours':>8}{'decode':>10}{'x ours':>8}")
    for name, (build, read) in peers().items():
        print(
            f"{name:36}{build:10.0f}{build / ours['append + build']:8.1f}"
            f"{read:10.0f}{read / ours['decode to Record']:8.1f}"
        )
    report_batches()
    report_validation()
    report_arrow()


if __name__ == "__main__":
    main()
