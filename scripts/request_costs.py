"""Measures the most expensive 1 MB request of every API and writes the table in docs/promises.md.

Candidates are made from the declarations of each request: every array, at any depth, is filled with
as many elements as fit into the size, all equal or all different, and with as many different
elements as a broker serves (`request_limits`) or decodes on its loop. Byte fields are filled too,
and Produce gets record batches that decompress to much. Each is sent to a broker in this process.
The loop time is the CPU time of the longest single callback of the event loop, which is the time
for which other clients wait; time on a loaded machine would say nothing. The peak memory is that of
Python's allocations, measured in a second run of the worst candidate.

The newest version of each API is measured, and the oldest one if its arrays differ.

    python -m scripts.request_costs [--api NAME] [--size BYTES] [--print]
"""

import argparse
import asyncio
import gc
import importlib
import struct
import sys
import tempfile
import threading
import time
import tracemalloc
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from barnabas.broker.app import Broker
from barnabas.broker.config import BrokerConfig
from barnabas.broker.handlers import HANDLERS
from barnabas.broker.request_limits import SPARE_ELEMENTS, SPARE_ELEMENTS_BY_API
from barnabas.cli.servers.serving import keep_collections_short
from barnabas.model.records import Codec
from barnabas.records.batch import write_crc
from barnabas.records.builder import build_batch
from barnabas.wire.api_keys import ApiKey, request_class
from barnabas.wire.headers import RequestHeader, encode_request
from barnabas.wire.message import Message, WireStruct
from barnabas.wire.messages.create_topics import CreatableTopic, CreateTopicsRequest
from barnabas.wire.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData

PAGE = Path("docs/promises.md")
BEGIN, END = "<!-- begin: scripts.request_costs -->", "<!-- end: scripts.request_costs -->"
MEGABYTE = 1 << 20
ANSWER_SECONDS = 20.0
TOPIC = "t"
_BATCH_HEADER = 61
_DECODED_ON_LOOP = (500, 1_000, 2_000)
"""Elements of requests that are below `LOOP_BUDGET`, depending on the API, and not cut."""
_DECOMPRESSED = 60 << 20
_BASE: dict[str, object] = {
    "group_id": "g",
    "transactional_id": "x",
    "v3_and_below_transactional_id": "x",
    "protocol_type": "consumer",
    "validate_only": True,
    "timeout_ms": 1000,
    "session_timeout_ms": 10_000,
    "rebalance_timeout_ms": 1000,
    "max_wait_ms": 0,
    "session_epoch": -1,
    "acks": -1,
    "max_bytes": 1 << 20,
    "num_partitions": 1,
    "replication_factor": 1,
}
_REPEATED = 5
"""Candidates of an API that are measured again."""
Fill = Callable[[int], object]


@dataclass
class Candidate:
    """One request: its array and contents in words, and its frame.

    The objects of the message are gone: the garbage collector would visit them during the request.
    """

    what: str
    version: int
    frame: bytes


@dataclass
class Cost:
    """Measured cost of one candidate."""

    candidate: Candidate
    loop_ms: float
    outcome: str
    peak_mb: float = 0.0


class Meter:
    """Records the longest callback of the loop that runs in this thread, in CPU time.

    A context manager, because it replaces a method of asyncio.
    """

    def __init__(self) -> None:
        self.longest_ns = 0
        self._thread = threading.get_ident()
        self._run = asyncio.Handle._run  # noqa: SLF001

    @property
    def longest_ms(self) -> float:
        return self.longest_ns / 1e6

    def __enter__(self) -> Self:
        run, meter = self._run, self

        def measured(handle: asyncio.Handle) -> None:
            started = time.thread_time_ns()
            run(handle)
            if threading.get_ident() == meter._thread:
                meter.longest_ns = max(meter.longest_ns, time.thread_time_ns() - started)

        setattr(asyncio.Handle, "_run", measured)  # noqa: B010 - a method of the library
        return self

    def __exit__(self, *_: object) -> None:
        setattr(asyncio.Handle, "_run", self._run)  # noqa: B010


# --- candidates -------------------------------------------------------------------------------


def candidates(api: ApiKey, versions: tuple[int, int], size: int) -> Iterator[Candidate]:
    """Yields requests of about `size` bytes; in the first version only with different elements."""
    made = request_class(int(api))
    newest = set(_array_paths(made, versions[1]))
    for version in sorted(set(versions)):
        counts = (sys.maxsize, SPARE_ELEMENTS_BY_API.get(api, SPARE_ELEMENTS), *_DECODED_ON_LOOP)
        kinds = [("different", count) for count in counts]
        if version == versions[1]:
            kinds.append(("equal", sys.maxsize))
        for path in _array_paths(made, version):
            if version != versions[1] and path in newest:
                continue
            for kind, most in kinds:
                yield from _array_candidate(made, path, version, size, kind, most)
        for path in _bytes_paths(made, version):
            blob = frame_of(_blob(made, path, size), version)
            yield Candidate(f"{'.'.join(path)} of {size:,} bytes", version, blob)
    if api is ApiKey.PRODUCE:
        for codec, records in _bombs():
            data = [TopicProduceData(name=TOPIC, partition_data=[PartitionProduceData(0, records)])]
            message = ProduceRequest(acks=-1, timeout_ms=1000, topic_data=data)
            what = f"{codec} batch of {len(records):,} bytes, {_DECOMPRESSED >> 20} MB of records"
            version = min(versions[1], 9)
            yield Candidate(what, version, frame_of(message, version))


def request_with_array(api: ApiKey, path: tuple[str, ...], count: int) -> Message:
    """Returns a request with this number of different elements in the array at `path`."""
    made: Any = request_class(int(api))
    make = _element_maker(made, path, "different")
    message: Message = _with_array(made, path, [make(number) for number in range(count)])
    return message


def _array_candidate(
    made: type[Any], path: tuple[str, ...], version: int, size: int, kind: str, most: int
) -> Iterator[Candidate]:
    message = _filled(made, path, version, size, kind, most)
    if message is not None:
        what = f"{len(_array_at(message, path)):,} {kind} {'.'.join(path)}"
        yield Candidate(what, version, frame_of(message, version))


def _fields(made: type[WireStruct], version: int) -> Iterator[tuple[str, str]]:
    for name, kind, first, last, _nullable in made.FIELDS:
        if first <= version <= last:
            yield name, kind


def _element_class(made: type[WireStruct], kind: str) -> type[WireStruct] | None:
    found = getattr(importlib.import_module(made.__module__), kind.strip("[]"), None)
    return found if isinstance(found, type) and issubclass(found, WireStruct) else None


def _array_paths(made: type[WireStruct], version: int) -> Iterator[tuple[str, ...]]:
    for name, kind in _fields(made, version):
        if kind.startswith("["):
            yield (name,)
            inner = _element_class(made, kind)
            if inner is not None:
                for path in _array_paths(inner, version):
                    yield (name, *path)


def _bytes_paths(made: type[WireStruct], version: int) -> Iterator[tuple[str, ...]]:
    for name, kind in _fields(made, version):
        if kind == "bytes":
            yield (name,)
        elif kind.startswith("[") and (inner := _element_class(made, kind)) is not None:
            for path in _bytes_paths(inner, version):
                yield (name, *path)


def _kind_of(made: type[WireStruct], name: str) -> str:
    return next(kind for field_name, kind, *_ in made.FIELDS if field_name == name)


def _new(made: type[WireStruct]) -> Any:
    """An instance whose scalars get past the first checks of a handler."""
    instance: Any = made()
    for name, kind, *_, nullable in made.FIELDS:
        if name in _BASE and not kind.startswith("["):
            setattr(instance, name, _BASE[name])
        elif kind.startswith("[") and nullable:
            setattr(instance, name, [])
    return instance


def _with_array(made: type[WireStruct], path: tuple[str, ...], items: list[Any]) -> Any:
    instance = _new(made)
    inner = _element_class(made, _kind_of(made, path[0]))
    if len(path) == 1:
        setattr(instance, path[0], items)
    else:
        assert inner is not None
        element = _with_array(inner, path[1:], items)
        _name_it(element, TOPIC)
        setattr(instance, path[0], [element])
    return instance


def _array_at(message: Any, path: tuple[str, ...]) -> list[Any]:
    for name in path[:-1]:
        message = getattr(message, name)[0]
    found: list[Any] = getattr(message, path[-1])
    return found


def _name_it(element: Any, name: str) -> None:
    for field_name, kind, *_ in element.FIELDS:
        if kind == "string" and field_name not in _BASE:
            setattr(element, field_name, name)


def _element_maker(made: type[WireStruct], path: tuple[str, ...], kind: str) -> Fill:
    for name in path[:-1]:
        inner = _element_class(made, _kind_of(made, name))
        assert inner is not None
        made = inner
    type_name = _kind_of(made, path[-1]).strip("[]")
    element_class = _element_class(made, type_name)
    if element_class is not None:
        return lambda number: _element(element_class, kind, number)
    if type_name == "string":
        return lambda number: TOPIC if kind == "equal" else f"n{number}"
    if type_name == "uuid":
        return lambda number: bytes(16) if kind != "different" else number.to_bytes(16, "big")
    return lambda number: number if kind == "different" else 0


def _element(made: type[WireStruct], kind: str, number: int) -> Any:
    element = _new(made)
    _name_it(element, TOPIC if kind == "equal" else f"n{number}")
    if kind == "different":
        for name, type_name, *_ in made.FIELDS:
            if type_name == "int32" and "partition" in name and name != "num_partitions":
                setattr(element, name, number)
    return element


def _filled(
    made: type[Any], path: tuple[str, ...], version: int, size: int, kind: str, most: int
) -> Message | None:
    """The message with its array filled up to `size` bytes, or None if it cannot be encoded."""
    make = _element_maker(made, path, kind)
    sample = 300
    try:
        small = _size(_with_array(made, path, [make(0)]), version)
        large = _size(_with_array(made, path, [make(n) for n in range(sample)]), version)
    except Exception:  # noqa: BLE001 - a kind of element that this version does not have
        return None
    each = (large - small) / (sample - 1)
    count = min(max(int((size - small) / each), 1) if each else sample, most)
    first = make(0)
    different = kind == "different"
    items = [make(n) for n in range(count)] if different else [first] * count
    message: Message = _with_array(made, path, items)
    return message


def _size(message: Any, version: int) -> int:
    return sum(len(part) for part in message.encode(version))


def _blob(made: type[Any], path: tuple[str, ...], size: int) -> Message:
    if len(path) == 1:
        instance = _new(made)
        setattr(instance, path[0], bytes(size))
    else:
        inner = _element_class(made, _kind_of(made, path[0]))
        assert inner is not None
        instance = _new(made)
        element: Any = _blob(inner, path[1:], size)
        _name_it(element, TOPIC)
        setattr(instance, path[0], [element])
    message: Message = instance
    return message


def _bombs() -> Iterator[tuple[str, bytes]]:
    """Batches of one record that is much larger than the batch."""
    plain = bytes(build_batch([(None, bytes(_DECOMPRESSED))], timestamp_ms=1_700_000_000_000))
    for codec, packed in (
        (Codec.GZIP, zlib.compress(plain[_BATCH_HEADER:], 9, wbits=31)),
        (Codec.GZIP, zlib.compress(_incompressible(plain[_BATCH_HEADER:]), 1, wbits=31)),
    ):
        batch = bytearray(plain[:_BATCH_HEADER]) + packed
        struct.pack_into(">i", batch, 8, len(batch) - 12)
        struct.pack_into(">h", batch, 21, int(codec))
        write_crc(batch, 0, len(batch))
        yield codec.name.lower(), bytes(batch)


def _incompressible(data: bytes) -> bytes:
    """The same record with fewer and varied bytes, so that the batch is about 1 MB."""
    pattern = bytes(range(256)) * 16
    return data[:16] + pattern * (len(data) // len(pattern)) + data[-1:]


# --- measuring --------------------------------------------------------------------------------


def frame_of(message: Message, version: int) -> bytes:
    header = RequestHeader(message.API_KEY, version, 1, "cost")
    parts: Any = encode_request(header, message)
    return b"".join(parts)


async def exchange(port: int, frame: bytes) -> str:
    """Sends one frame; returns what became of it."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        writer.write(frame)
        await writer.drain()
        size = struct.unpack(">i", await asyncio.wait_for(reader.readexactly(4), ANSWER_SECONDS))[0]
        left = size
        while left:
            data = await asyncio.wait_for(reader.read(min(left, MEGABYTE)), ANSWER_SECONDS)
            if not data:
                return "closed"
            left -= len(data)
    except (ConnectionError, asyncio.IncompleteReadError):
        return "refused"
    except TimeoutError:
        return "no answer"
    finally:
        writer.close()
    return f"answered, {size:,} bytes"


class Client:
    """Sends requests from a separate thread, so that the broker's loop does nothing else."""

    def __init__(self, port: int) -> None:
        self._port = port

    def send(self, frame: bytes) -> str:
        return asyncio.run(exchange(self._port, frame))


async def measure(port: int, meter: Meter, candidate: Candidate) -> Cost:
    frame = candidate.frame
    gc.collect()
    keep_collections_short()  # as `barnabas broker` does
    await asyncio.sleep(0)  # the callback that made the candidate is not measured
    meter.longest_ns = 0
    outcome = await _in_thread(lambda: Client(port).send(frame))
    return Cost(candidate, meter.longest_ms, outcome)


async def peak_of(port: int, candidate: Candidate) -> float:
    frame = candidate.frame
    gc.collect()
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    try:
        await _in_thread(lambda: Client(port).send(frame))
        return (tracemalloc.get_traced_memory()[1] - before) / MEGABYTE
    finally:
        tracemalloc.stop()


async def _in_thread(work: Callable[[], Any]) -> Any:
    """Not an executor's thread: the client's loop must not be measured."""
    loop = asyncio.get_running_loop()
    done: asyncio.Future[Any] = loop.create_future()

    def run() -> None:
        result = work()
        loop.call_soon_threadsafe(done.set_result, result)

    threading.Thread(target=run, daemon=True).start()
    return await done


async def costs(size: int, only: str | None) -> list[tuple[ApiKey, Cost]]:
    """Returns the cost of the slowest candidate of each API."""
    meter = Meter()
    found = []
    with tempfile.TemporaryDirectory() as folder:
        settings = {
            "listeners": "PLAINTEXT://127.0.0.1:0",
            "log.dirs": folder,
            "auto.create.topics.enable": False,
            "group.initial.rebalance.delay.ms": 0,
            "offsets.topic.num.partitions": 1,
            "transaction.state.log.num.partitions": 1,
        }
        broker = Broker(BrokerConfig.parse(settings))
        await broker.start()
        topics = [CreatableTopic(TOPIC, 1, 1)]
        create = frame_of(CreateTopicsRequest(topics=topics, timeout_ms=5000), 7)
        await measure(broker.port, meter, Candidate("", 7, create))
        with meter:
            for handler in sorted(HANDLERS, key=lambda handler: handler.api):
                if only in (None, handler.api.name):
                    cost = await _worst(broker.port, meter, handler.api, handler.versions, size)
                    if cost is not None:
                        found.append((handler.api, cost))
                        print(row(*found[-1]), file=sys.stderr, flush=True)
        await broker.stop()
    return found


async def _worst(
    port: int, meter: Meter, api: ApiKey, versions: tuple[int, int], size: int
) -> Cost | None:
    """Measures all candidates once and the slowest ones again: a single value may be disturbed."""
    measured = [await measure(port, meter, one) for one in candidates(api, versions, size)]
    if not measured:
        return None
    slow = sorted(measured, key=lambda cost: cost.loop_ms)[-_REPEATED:]
    for cost in slow:
        for _ in range(2):
            again = await measure(port, meter, cost.candidate)
            cost.loop_ms = min(cost.loop_ms, again.loop_ms)
    slowest = max(slow, key=lambda cost: cost.loop_ms)
    slowest.peak_mb = await peak_of(port, slowest.candidate)
    return slowest


# --- the page ---------------------------------------------------------------------------------


def row(api: ApiKey, cost: Cost) -> str:
    what = f"{cost.candidate.what} (v{cost.candidate.version})"
    return (
        f"| {api.name} | {what} | {cost.loop_ms:.1f} ms | {cost.peak_mb:.1f} MB | {cost.outcome} |"
    )


def page(found: list[tuple[ApiKey, Cost]]) -> str:
    rows = "\n".join(row(*one) for one in found)
    return f"""| API | worst request | loop time | peak memory | outcome |
|---|---|---|---|---|
{rows}
"""


def write_page(table: str) -> None:
    """Replaces the table between the two marks in the page."""
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    _, _, after = rest.partition(END)
    PAGE.write_text(f"{before}{BEGIN}\n\n{table}\n{END}{after}", encoding="utf-8")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--api")
    parser.add_argument("--size", type=int, default=MEGABYTE)
    parser.add_argument("--print", action="store_true", help="do not write the page")
    arguments = parser.parse_args()
    found = asyncio.run(costs(arguments.size, arguments.api))
    if arguments.print or arguments.api:
        print(page(found))
    else:
        write_page(page(found))
    return 0


if __name__ == "__main__":
    sys.exit(main())
