"""How long requests and commands with many partitions hold the event loop of a broker.

    python -m benchmarks holds

`BARNABAS_BENCH_HELD=1000,10000` sets the numbers of partitions. A broker runs in this process on a
loop of its own thread. Requests are sent from another thread, one after the other; the figure is
the CPU time of the longest callback of the broker's loop between request and response, for which
any other client would wait. CPU time, because other processes must not count. The best of three
repetitions counts for requests that can be repeated. The garbage collector has the settings of the
server commands. Objects are frozen before each request, as those commands do after the start:
otherwise a collection of all objects would be taken for the work of a request.

With `BARNABAS_BENCH_HOLDERS=1` each figure is followed by the function of its callback and by the
time that the garbage collector took of it.
"""

import asyncio
import gc
import os
import tempfile
import threading
import time
from collections.abc import Iterator
from typing import Any, NamedTuple, Self

from barnabas.broker.app import Broker
from barnabas.broker.config import BrokerConfig
from barnabas.cli.servers.serving import keep_collections_short
from barnabas.records.builder import build_batch
from barnabas.wire.api_keys import response_class
from barnabas.wire.headers import decode_response_header
from barnabas.wire.message import Message
from barnabas.wire.messages import (
    alter_partition_reassignments as reassign,
)
from barnabas.wire.messages import (
    create_partitions,
    create_topics,
    delete_groups,
    delete_records,
    delete_topics,
    describe_configs,
    describe_groups,
    describe_log_dirs,
    describe_producers,
    describe_topic_partitions,
    elect_leaders,
    fetch,
    find_coordinator,
    incremental_alter_configs,
    list_groups,
    list_offsets,
    list_partition_reassignments,
    metadata,
    offset_commit,
    offset_fetch,
    offset_for_leader_epoch,
)
from barnabas.wire.messages import (
    produce as produce_messages,
)
from benchmarks.raw_driver import Peer, frame_of
from benchmarks.report import Report

STEPS = os.environ.get("BARNABAS_BENCH_HELD", "1000,10000")
HOLDERS = bool(os.environ.get("BARNABAS_BENCH_HOLDERS"))
GOAL_MS = {1000: "<= 5", 10000: "<= 20"}
GROUP = "g"
TOPIC = "t"
_REPEATED = 3
_TIMEOUT_MS = 300_000


class Callbacks:
    """Measures the callbacks of one loop; a context manager, because it replaces asyncio's method.

    The broker's loop is asyncio's own here, so that all callbacks are handles.
    """

    def __init__(self) -> None:
        self.longest_ns = 0
        self.holder = ""
        self.thread = 0
        self._collected_ns = 0
        self._run = asyncio.Handle._run  # noqa: SLF001

    def __enter__(self) -> Self:
        run, thread_time_ns, ident = self._run, time.thread_time_ns, threading.get_ident

        def measured(handle: asyncio.Handle) -> None:
            if ident() != self.thread:
                run(handle)
                return
            self._collected_ns = 0
            began = thread_time_ns()
            run(handle)
            took = thread_time_ns() - began
            if took > self.longest_ns:
                self.longest_ns = took
                self.holder = self._description(handle) if HOLDERS else ""

        setattr(asyncio.Handle, "_run", measured)  # noqa: B010 - a method of the library
        gc.callbacks.append(self._collecting)
        return self

    def __exit__(self, *_error: object) -> None:
        setattr(asyncio.Handle, "_run", self._run)  # noqa: B010
        gc.callbacks.remove(self._collecting)

    def _collecting(self, phase: str, _info: dict[str, int]) -> None:
        """Adds the time of a collection to that of the running callback."""
        if threading.get_ident() == self.thread:
            now_ns = time.thread_time_ns()
            self._collected_ns += now_ns if phase == "stop" else -now_ns

    def _description(self, handle: asyncio.Handle) -> str:
        return f"{_name(handle)} (garbage collection: {self._collected_ns / 1e6:.1f} ms)"

    def reset(self) -> None:
        self.longest_ns = 0


def _name(handle: asyncio.Handle) -> str:
    """Returns the chain of coroutines of a task's step, or the callback of another handle."""
    callback: Any = handle._callback  # type: ignore[attr-defined]  # noqa: SLF001
    task = getattr(callback, "__self__", None)
    if not isinstance(task, asyncio.Task):
        return str(callback)
    names, coroutine = [], task.get_coro()
    while coroutine is not None:
        names.append(getattr(coroutine, "__qualname__", type(coroutine).__name__))
        coroutine = getattr(coroutine, "cr_await", None)
    return " > ".join(names)


class Running:
    """A broker on a loop in a thread of its own, and a connection to it."""

    def __init__(self, directory: str, callbacks: Callbacks) -> None:
        self._callbacks = callbacks
        self._ready = threading.Event()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._end = asyncio.Event()
        self.port = 0
        self._directory = directory
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve()), daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        self._ready.wait()
        self.peer = Peer(f"127.0.0.1:{self.port}")
        return self

    def __exit__(self, *_error: object) -> None:
        assert self._loop is not None
        self._loop.call_soon_threadsafe(self._end.set)
        self._thread.join()

    async def _serve(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._callbacks.thread = threading.get_ident()
        settings = {
            "listeners": "PLAINTEXT://127.0.0.1:0",
            "log.dirs": self._directory,
            "broker.id": 1,
            "offsets.topic.num.partitions": 1,
            "group.initial.rebalance.delay.ms": 0,
        }
        broker = Broker(BrokerConfig.parse(settings))
        await broker.start()
        self.port = broker.port
        self._ready.set()
        await self._end.wait()
        await broker.stop()

    def ask(self, request: Message, version: int) -> Any:
        self.peer.send(frame_of(request, version))
        frame = self.peer.receive()
        _, offset = decode_response_header(frame, request.API_KEY, version)
        return response_class(request.API_KEY).decode(frame, version, offset)


class Case(NamedTuple):
    """A request to measure."""

    name: str
    request: Message
    version: int
    repeated: bool = True


def run(report: Report) -> None:
    for count in map(int, filter(None, STEPS.split(","))):
        with tempfile.TemporaryDirectory(dir="/dev/shm") as directory, Callbacks() as callbacks:
            _measure(report, count, directory, callbacks)


def _measure(report: Report, count: int, directory: str, callbacks: Callbacks) -> None:
    pause = threading.Event()

    def add(name: str) -> None:
        figure = callbacks.longest_ns / 1e6
        report.add(f"{count} partitions: {name}", figure, "ms", goal=GOAL_MS.get(count, ""))
        if HOLDERS:
            print(f"      {callbacks.holder}", flush=True)

    with Running(directory, callbacks) as broker:
        for case in _cases(count):
            best: tuple[float, str] | None = None
            for _ in range(_REPEATED if case.repeated else 1):
                frame = frame_of(case.request, case.version)
                _freeze()
                callbacks.reset()
                broker.peer.send(frame)
                broker.peer.receive()
                pause.wait(0.05)  # for work that follows the response
                found = callbacks.longest_ns, callbacks.holder
                best = found if best is None else min(best, found)
            assert best is not None
            callbacks.longest_ns, callbacks.holder = best
            add(case.name)
            if case.name == "FindCoordinator":
                _commit_until_loaded(broker, count)


def _freeze() -> None:
    gc.collect()
    keep_collections_short()


def _commit_until_loaded(broker: Running, count: int) -> None:
    """Waits for the coordinator, and makes groups."""
    for number in range(count):
        name = f"group-{number}"
        while True:
            response = broker.ask(_commit(name, 1), 8)
            if not response.topics[0].partitions[0].error_code:
                break


def _commit(group: str, partitions: int) -> Message:
    offsets = [offset_commit.OffsetCommitRequestPartition(n, 0) for n in range(partitions)]
    topics = [offset_commit.OffsetCommitRequestTopic(TOPIC, partitions=offsets)]
    return offset_commit.OffsetCommitRequest(group_id=group, topics=topics)


def _cases(count: int) -> Iterator[Case]:
    """Yields the requests in the order in which they are sent."""
    wide = [f"w-{n}" for n in range(count // 10)]
    yield from _creations(count, wide)
    yield from _records(list(range(count)))
    yield from _lookups(list(range(count)))
    yield from _administration(list(range(count)), wide)
    yield from _deletions(count, wide)


def _creations(count: int, wide: list[str]) -> Iterator[Case]:
    topic = create_topics.CreatableTopic(TOPIC, count, 1)
    topics = [create_topics.CreatableTopic(name, 1, 1) for name in wide]
    yield Case(
        "CreateTopics, one topic",
        create_topics.CreateTopicsRequest([topic], timeout_ms=_TIMEOUT_MS),
        7,
        repeated=False,
    )
    yield Case(
        "CreateTopics, a topic for every ten",
        create_topics.CreateTopicsRequest(topics, timeout_ms=_TIMEOUT_MS),
        7,
        repeated=False,
    )
    yield Case(
        "FindCoordinator",
        find_coordinator.FindCoordinatorRequest(coordinator_keys=["g"]),
        4,
        repeated=False,
    )


def _records(numbers: list[int]) -> Iterator[Case]:
    for name in ("Produce, first record of each", "Produce"):
        yield Case(name, _produce(numbers), 9, repeated=name == "Produce")
    yield Case("Fetch", _fetch(numbers), 12)


def _lookups(numbers: list[int]) -> Iterator[Case]:
    yield Case("Metadata", metadata.MetadataRequest(topics=None), 9)
    yield Case(
        "DescribeTopicPartitions",
        describe_topic_partitions.DescribeTopicPartitionsRequest(),
        0,
    )
    asked = [list_offsets.ListOffsetsPartition(n, -1, -1) for n in numbers]
    topics = [list_offsets.ListOffsetsTopic(TOPIC, asked)]
    yield Case("ListOffsets", list_offsets.ListOffsetsRequest(topics=topics), 7)
    yield Case("OffsetCommit", _commit(GROUP, len(numbers)), 8)
    groups = [offset_fetch.OffsetFetchRequestGroup(GROUP, topics=None)]
    yield Case("OffsetFetch of all", offset_fetch.OffsetFetchRequest(groups=groups), 8)
    one = offset_fetch.OffsetFetchRequestTopics(TOPIC, partition_indexes=numbers)
    groups = [offset_fetch.OffsetFetchRequestGroup(GROUP, topics=[one])]
    yield Case("OffsetFetch", offset_fetch.OffsetFetchRequest(groups=groups), 8)
    epochs = [offset_for_leader_epoch.OffsetForLeaderPartition(n, -1, 0) for n in numbers]
    yield Case(
        "OffsetForLeaderEpoch",
        offset_for_leader_epoch.OffsetForLeaderEpochRequest(
            -1, [offset_for_leader_epoch.OffsetForLeaderTopic(TOPIC, epochs)]
        ),
        4,
    )
    producers = [describe_producers.TopicRequest(TOPIC, numbers)]
    yield Case("DescribeProducers", describe_producers.DescribeProducersRequest(producers), 0)
    yield Case("DescribeLogDirs", describe_log_dirs.DescribeLogDirsRequest(topics=None), 4)
    yield Case("ListGroups", list_groups.ListGroupsRequest(), 5)
    names = [f"group-{n}" for n in numbers]
    yield Case("DescribeGroups", describe_groups.DescribeGroupsRequest(names), 5)


def _administration(numbers: list[int], wide: list[str]) -> Iterator[Case]:
    described = [
        describe_configs.DescribeConfigsResource(2, name, configuration_keys=None) for name in wide
    ]
    yield Case(
        "DescribeConfigs, a topic for every ten",
        describe_configs.DescribeConfigsRequest(described, include_synonyms=True),
        4,
    )
    change = incremental_alter_configs.AlterableConfig("retention.ms", 0, "1000000000")
    altered = [
        incremental_alter_configs.AlterConfigsResource(2, name, [change]) for name in (TOPIC, *wide)
    ]
    yield Case(
        "IncrementalAlterConfigs",
        incremental_alter_configs.IncrementalAlterConfigsRequest(altered),
        1,
    )
    elected = [elect_leaders.TopicPartitions(TOPIC, numbers)]
    yield Case("ElectLeaders", elect_leaders.ElectLeadersRequest(0, elected), 2)
    yield Case("ElectLeaders of all", elect_leaders.ElectLeadersRequest(0, None), 2)
    moves = [reassign.ReassignablePartition(n, [1]) for n in numbers[:1000]]
    yield Case(
        "AlterPartitionReassignments of 1,000",
        reassign.AlterPartitionReassignmentsRequest(
            topics=[reassign.ReassignableTopic(TOPIC, moves)]
        ),
        0,
        repeated=False,
    )
    yield Case(
        "ListPartitionReassignments",
        list_partition_reassignments.ListPartitionReassignmentsRequest(),
        0,
    )
    deleted = [delete_records.DeleteRecordsPartition(n, -1) for n in numbers]
    yield Case(
        "DeleteRecords",
        delete_records.DeleteRecordsRequest(
            [delete_records.DeleteRecordsTopic(TOPIC, deleted)], timeout_ms=_TIMEOUT_MS
        ),
        2,
    )
    names = [f"group-{n}" for n in numbers]
    yield Case("DeleteGroups", delete_groups.DeleteGroupsRequest(names), 2, repeated=False)


def _deletions(count: int, wide: list[str]) -> Iterator[Case]:
    grown = [create_partitions.CreatePartitionsTopic(TOPIC, 2 * count, None)]
    yield Case(
        "CreatePartitions",
        create_partitions.CreatePartitionsRequest(grown, timeout_ms=_TIMEOUT_MS),
        3,
        repeated=False,
    )
    yield Case(
        "DeleteTopics, a topic for every ten",
        delete_topics.DeleteTopicsRequest(
            [delete_topics.DeleteTopicState(name) for name in wide], timeout_ms=_TIMEOUT_MS
        ),
        6,
        repeated=False,
    )
    again = create_topics.CreatableTopic("again", count, 1)
    yield Case(
        "CreateTopics beside others",
        create_topics.CreateTopicsRequest([again], timeout_ms=_TIMEOUT_MS),
        7,
        repeated=False,
    )
    yield Case(
        "DeleteTopics, twice the partitions",
        delete_topics.DeleteTopicsRequest(
            [delete_topics.DeleteTopicState(TOPIC)], timeout_ms=_TIMEOUT_MS
        ),
        6,
        repeated=False,
    )


def _produce(numbers: list[int]) -> Message:
    batch = bytes(build_batch([(None, b"value")], timestamp_ms=1_700_000_000_000))
    data = [produce_messages.PartitionProduceData(n, batch) for n in numbers]
    topics = [produce_messages.TopicProduceData(TOPIC, partition_data=data)]
    return produce_messages.ProduceRequest(acks=-1, timeout_ms=30_000, topic_data=topics)


def _fetch(numbers: list[int]) -> Message:
    partitions = [
        fetch.FetchPartition(n, fetch_offset=0, partition_max_bytes=1 << 20) for n in numbers
    ]
    topics = [fetch.FetchTopic(TOPIC, partitions=partitions)]
    return fetch.FetchRequest(
        max_wait_ms=0, min_bytes=0, max_bytes=50 << 20, session_epoch=-1, topics=topics
    )
