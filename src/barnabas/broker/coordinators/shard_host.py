"""Loads the shards of a coordinator when the broker becomes leader, and drops them afterwards.

Generic over the two coordinators. The partition itself reports a change of leadership, on the loop
and in order, so no command can overtake another here. A load in progress is cancelled when its
partition has another leader. Every call of `CoordinatorDirectory` names a leader epoch, so that
late or repeated commands have no effect (KAFKA-15468 reloaded a loaded shard; KAFKA-16118 did not
unload one).

A log of some hundred megabytes takes seconds to replay, so each iteration of the loop replays a
section and then serves other requests. Most records of such a log are superseded: a group commits
the same few offsets every few seconds. `replay_log` first finds the newest record of each key in a
section, and only those are decoded and applied, in the order of their offsets. Compaction would
leave the same records. A section ends at each transactional batch and each marker, because their
position among the other records matters.
"""

import asyncio
import enum
import logging
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from time import perf_counter_ns
from typing import Generic, Protocol, TypeVar

from barnabas.broker.coordinators.internal_topics import InternalTopics
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BarnabasError, BrokerError, CorruptRecordError
from barnabas.records.batch import BatchHeader, crc_ok, iter_batches
from barnabas.records.control import ControlType, decode_end_marker
from barnabas.records.reader import iter_raw
from barnabas.replication.partition import Partition
from barnabas.replication.ports import ReplicaLog
from barnabas.runtime.metrics import Histogram

# --- Leader epochs of the shards ------------------------------------------------------------------


class ShardState(enum.Enum):
    """State of one shard.

    LOADING: requests get COORDINATOR_LOAD_IN_PROGRESS. ACTIVE: serves. FAILED: loaded again in a
    higher epoch, or by `begin_load` in the same one (KAFKA-9307).
    """

    LOADING = "loading"
    ACTIVE = "active"
    FAILED = "failed"


@dataclass(slots=True)
class _Entry:
    epoch: int
    state: ShardState


@dataclass(slots=True)
class CoordinatorDirectory:
    """Leader epoch and state of each partition; owned by the loop that owns the shards."""

    _entries: dict[int, _Entry] = field(default_factory=dict)
    _resigned: dict[int, int] = field(default_factory=dict)

    def state(self, partition: int) -> ShardState | None:
        """Returns the state, or None if this broker is not the coordinator."""
        entry = self._entries.get(partition)
        return entry.state if entry is not None else None

    def epoch(self, partition: int) -> int | None:
        entry = self._entries.get(partition)
        return entry.epoch if entry is not None else None

    def partitions(self) -> list[int]:
        return sorted(self._entries)

    def begin_load(self, partition: int, epoch: int) -> bool:
        """Returns whether the driver must load now; False for a repeated or outdated election.

        It supersedes a load in progress with an older epoch, whose `finish_load` returns False.
        """
        if epoch <= self._resigned.get(partition, -1):
            return False
        entry = self._entries.get(partition)
        if entry is not None and epoch < entry.epoch:
            return False
        if entry is not None and epoch == entry.epoch and entry.state is not ShardState.FAILED:
            return False
        self._entries[partition] = _Entry(epoch, ShardState.LOADING)
        return True

    def finish_load(self, partition: int, epoch: int) -> bool:
        """Returns whether the shard loaded at `epoch` may serve; False if it was superseded."""
        return self._end_load(partition, epoch, ShardState.ACTIVE)

    def fail_load(self, partition: int, epoch: int) -> bool:
        """Marks a load as failed; returns whether it was the current one."""
        return self._end_load(partition, epoch, ShardState.FAILED)

    def unload(self, partition: int, epoch: int | None) -> bool:
        """Returns whether the driver must drop the shard; None (replica deleted) matches any epoch.

        An unload older than the current load is ignored, and so are later elections up to `epoch`.
        """
        entry = self._entries.get(partition)
        if epoch is not None:
            if entry is not None and epoch < entry.epoch:
                return False
            self._resigned[partition] = max(epoch, self._resigned.get(partition, -1))
        return self._entries.pop(partition, None) is not None

    def _end_load(self, partition: int, epoch: int, state: ShardState) -> bool:
        entry = self._entries.get(partition)
        if entry is None or entry.epoch != epoch or entry.state is not ShardState.LOADING:
            return False
        entry.state = state
        return True


# Work in one callback of the loop: some ten milliseconds.
_MAX_SLICE_BYTES = 256 * 1024
# Loading a shard may take seconds: the loop serves requests between two turns.
_APPLIED_PER_TURN = 1000
# Bounds the memory of a load: until then only the newest record of each key is kept.
_MAX_STRETCH = 200_000
_logger = logging.getLogger("barnabas.broker")
_RETRY_S = 1.0


class ReplayTarget(Protocol):
    """Receives the records of the log in order."""

    def replay(self, key: bytes, value: bytes | None, producer_id: int) -> None:
        """Applies one record; `producer_id` is -1 outside of transactions."""
        ...

    def replay_marker(self, producer_id: int, *, commit: bool) -> None:
        """Ends the transaction of a producer."""
        ...


class ReplaySource(Protocol):
    """A partition; a move between directories may replace its log by a copy at any await."""

    @property
    def log(self) -> ReplicaLog: ...


async def replay_log(source: ReplaySource, target: ReplayTarget, buffer_bytes: int) -> None:
    """Passes all records below the current end of the log to `target`."""
    end_offset = source.log.log_end_offset
    offset = source.log.log_start_offset
    size = min(buffer_bytes, _MAX_SLICE_BYTES)
    replay = _Replay(target)
    while offset < end_offset:
        read = source.log.read(offset, size, max_offset=end_offset, min_one_batch=True)
        if read.slice is None:
            break  # compaction has removed all records up to the end
        data = read.slice.read()
        read.slice.release()
        await replay.take(data)
        offset = read.next_offset
        await asyncio.sleep(0)
    await replay.apply()


class _Replay:
    """One load: the newest records of the current section of the log, by key."""

    def __init__(self, target: ReplayTarget) -> None:
        self._target = target
        self._newest: dict[bytes, bytes | None] = {}

    async def take(self, data: bytes) -> None:
        for position, header in iter_batches(data):
            if not crc_ok(data, position, header):
                raise CorruptRecordError(f"bad checksum at offset {header.base_offset}")
            if header.is_control or header.is_transactional:
                # Only the order of records of one key counts, so plain records are collected by
                # key. A transaction takes effect at its marker, so everything before it must be
                # applied first.
                await self.apply()
                self._take_transactional(data, position, header)
            else:
                self._take_plain(data, position, header)
        if len(self._newest) > _MAX_STRETCH:
            await self.apply()

    async def apply(self) -> None:
        """Applies the records of the section and clears it."""
        newest, self._newest = self._newest, {}
        for count, (key, value) in enumerate(newest.items(), start=1):
            self._target.replay(key, value, -1)
            if count % _APPLIED_PER_TURN == 0:
                await asyncio.sleep(0)

    def _take_plain(self, data: bytes, position: int, header: BatchHeader) -> None:
        newest = self._newest
        for record in iter_raw(data, position, header):
            if record.key is not None:
                newest.pop(record.key, None)  # so that it moves to the end
                newest[record.key] = record.value

    def _take_transactional(self, data: bytes, position: int, header: BatchHeader) -> None:
        for record in iter_raw(data, position, header):
            if not header.is_control and record.key is not None:
                self._target.replay(record.key, record.value, header.producer_id)
            elif header.is_control:
                marker = decode_end_marker(record.key, record.value)
                if marker is not None:
                    commit = marker.type is ControlType.COMMIT
                    self._target.replay_marker(header.producer_id, commit=commit)


class ShardDriver(ReplayTarget, Protocol):
    """One shard with its runtime, for one leader epoch."""

    def activate(self) -> None:
        """Starts to serve, after all records are replayed."""
        ...

    def resign(self) -> None:
        """Stops the shard and fails every waiting request."""
        ...


DriverT = TypeVar("DriverT", bound=ShardDriver)


class ShardHost(Generic[DriverT]):
    """The shards of one internal topic by partition number; owned by the broker's loop."""

    def __init__(self, topic: str, buffer_bytes: int, make: Callable[[Partition], DriverT]) -> None:
        self.topic = topic
        self._buffer_bytes = buffer_bytes
        self._make = make
        self._directory = CoordinatorDirectory()
        self._drivers: dict[int, DriverT] = {}
        self._loads: dict[int, asyncio.Task[None]] = {}
        self._stopped = False
        self.load_time = Histogram()
        """Metric: nanoseconds of each load."""

    def get(self, partition: int) -> DriverT:
        """Returns the serving shard; raises BrokerError with the error for the client."""
        state = self._directory.state(partition)
        if state is ShardState.ACTIVE:
            return self._drivers[partition]
        if state is ShardState.LOADING:
            raise BrokerError(ErrorCode.COORDINATOR_LOAD_IN_PROGRESS)
        raise BrokerError(ErrorCode.NOT_COORDINATOR)

    def active(self) -> Iterator[DriverT]:
        """Returns all serving shards."""
        for number in self._directory.partitions():
            if self._directory.state(number) is ShardState.ACTIVE:
                yield self._drivers[number]

    def all(self) -> Iterator[DriverT]:
        """Returns every shard; raises COORDINATOR_LOAD_IN_PROGRESS while one is loading."""
        if self.loading:
            raise BrokerError(ErrorCode.COORDINATOR_LOAD_IN_PROGRESS)
        return self.active()

    @property
    def loading(self) -> bool:
        """Whether a shard is loading."""
        states = map(self._directory.state, self._directory.partitions())
        return any(state is ShardState.LOADING for state in states)

    def count_by_state(self) -> Counter[ShardState]:
        """Returns how many shards are in each state."""
        return Counter(
            state
            for number in self._directory.partitions()
            if (state := self._directory.state(number)) is not None
        )

    def leadership_changed(self, partition: Partition) -> None:
        """Loads or drops the shard of a partition after a change of its leadership."""
        number = partition.topic_partition.partition
        if not partition.is_leader:
            self._unload(number)
        elif self._directory.state(number) in (None, ShardState.FAILED) and not self._stopped:
            # A leader that stays leader in a higher epoch has all records, and loads nothing.
            self._load(number, partition)

    async def stop(self) -> None:
        """Drops all shards and loads no more."""
        self._stopped = True
        tasks = list(self._loads.values())
        for number in self._directory.partitions():
            self._unload(number)
        await asyncio.gather(*tasks, return_exceptions=True)

    def _load(self, number: int, partition: Partition) -> None:
        epoch = partition.leader_epoch
        if not self._directory.begin_load(number, epoch):
            return
        driver = self._drivers[number] = self._make(partition)
        if partition.log.log_end_offset == partition.log.log_start_offset:
            self._serve(number, epoch, driver)
            return
        coroutine = self._replay(number, epoch, partition, driver)
        self._loads[number] = asyncio.get_running_loop().create_task(coroutine)

    async def _replay(self, number: int, epoch: int, partition: Partition, driver: DriverT) -> None:
        started_ns = perf_counter_ns()
        try:
            await replay_log(partition, driver, self._buffer_bytes)
        except (BarnabasError, OSError) as error:
            _logger.error("%s: loading failed: %s", partition.topic_partition, error)
            self._fail(number, epoch, partition)
        except Exception:
            _logger.exception("%s: loading failed", partition.topic_partition)
            self._fail(number, epoch, partition)
        else:
            self._loads.pop(number, None)
            self.load_time.record(perf_counter_ns() - started_ns)
            self._serve(number, epoch, driver)

    def _serve(self, number: int, epoch: int, driver: DriverT) -> None:
        if self._directory.finish_load(number, epoch):
            driver.activate()

    def _fail(self, number: int, epoch: int, partition: Partition) -> None:
        """Repeats a failed load as long as this broker leads the partition (KAFKA-9307)."""
        self._loads.pop(number, None)
        if self._directory.fail_load(number, epoch):
            self._drivers.pop(number).resign()
            loop = asyncio.get_running_loop()
            loop.call_later(_RETRY_S, self.leadership_changed, partition)

    def _unload(self, number: int) -> None:
        task = self._loads.pop(number, None)
        if task is not None:
            task.cancel()
        if self._directory.unload(number, None):
            driver = self._drivers.pop(number, None)
            if driver is not None:
                driver.resign()


class Coordinator(Generic[DriverT]):
    """Finds the shard of a group or transactional id; owned by the broker's loop.

    Base of both coordinators. Requests for keys of other coordinators raise BrokerError.
    """

    def __init__(self, topics: InternalTopics, host: ShardHost[DriverT]) -> None:
        self._topics = topics
        self._host = host

    def shard_of(self, key: str) -> DriverT:
        """Returns the shard of a key; raises COORDINATOR_LOAD_IN_PROGRESS or NOT_COORDINATOR."""
        return self._host.get(self._topics.coordinated_partition(self._host.topic, key))

    def shard_at(self, partition: int) -> DriverT:
        """Returns the shard of a partition, for transaction markers."""
        return self._host.get(partition)

    def all_shards(self) -> Iterator[DriverT]:
        """Returns every shard; raises COORDINATOR_LOAD_IN_PROGRESS while one is loading."""
        return self._host.all()

    def active_shards(self) -> Iterator[DriverT]:
        """Yields the shards that serve, without those that are still loading."""
        return self._host.active()

    @property
    def load_time(self) -> Histogram:
        """Metric: nanoseconds that loading a partition of the internal topic took."""
        return self._host.load_time

    def partitions_by_state(self) -> Mapping[ShardState, int]:
        """Metric: partitions of the internal topic that this coordinator has, by state."""
        return self._host.count_by_state()

    def leadership_changed(self, partition: Partition) -> None:
        self._host.leadership_changed(partition)

    async def stop(self) -> None:
        await self._host.stop()
