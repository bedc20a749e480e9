"""The topics or partitions that a consumer reads, with the state of each assigned partition.

`SubscriptionState` is shared by the polling thread and the loop; every method holds `lock` for a
short time. Only the polling thread changes the assignment, so a rebalance never removes a partition
during a poll.

The `offset` of a partition is the application's position: the offset after the last record that
poll() or the iteration returned. `fetch_offset` is ahead of it by the buffered records. A seek, a
reset or a new assignment changes `stamp`, and everything that was fetched under the old stamp is
invalid.

While the application iterates over a block of a partition, `reader` returns the block's records and
determines the position. Invalidating or pausing the partition stops the reader first, so it returns
no record that the new position does not account for.

Records are in progress from their return until the application asks for more. `processed()` returns
the positions without them, for the commit after an error.
"""

import enum
import operator
import re
import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from barnabas.clients.group._iteration_hot import RecordIterator
from barnabas.model.errors import ConfigError, LocalError
from barnabas.model.ids import TopicPartition
from barnabas.model.records import EARLIEST_TIMESTAMP, LATEST_TIMESTAMP, OffsetAndMetadata
from barnabas.runtime._meter_hot import Meter

_DURATION = re.compile(
    r"P(?:(?P<days>\d+)D)?"
    r"(?:T(?:(?P<hours>\d+)H)?(?:(?P<minutes>\d+)M)?(?:(?P<seconds>\d+(?:\.\d{1,9})?)S)?)?"
)


@dataclass(frozen=True, slots=True)
class OffsetReset:
    """A value of auto.offset.reset: earliest, latest, none, or a duration before now (KIP-1106)."""

    name: str
    timestamp: int | None = None
    duration_ms: int | None = None

    def timestamp_at(self, now_ms: int) -> int:
        """Returns the timestamp for ListOffsets; not valid if `is_none`."""
        if self.duration_ms is not None:
            # Negative timestamps have special meanings.
            return max(now_ms - self.duration_ms, 0)
        assert self.timestamp is not None
        return self.timestamp

    @property
    def is_none(self) -> bool:
        """Whether the application gets an error instead of a reset."""
        return self.timestamp is None and self.duration_ms is None


EARLIEST = OffsetReset("earliest", EARLIEST_TIMESTAMP)
LATEST = OffsetReset("latest", LATEST_TIMESTAMP)
NONE = OffsetReset("none")


def parse_reset(text: str) -> OffsetReset:
    """Parses the value of `auto.offset.reset`.

    >>> parse_reset("by_duration:P1DT2H").duration_ms == 26 * 3_600_000
    True
    """
    fixed = {"earliest": EARLIEST, "latest": LATEST, "none": NONE}
    if text in fixed:
        return fixed[text]
    return OffsetReset(text, duration_ms=_parse_duration(text.removeprefix("by_duration:")))


def _parse_duration(text: str) -> int:
    found = _DURATION.fullmatch(text)
    if found is None or not any(found.groupdict().values()):
        raise ConfigError(f"auto.offset.reset: {text!r} is not an ISO 8601 duration such as PT1H")
    parts = {name: float(value or 0) for name, value in found.groupdict().items()}
    hours = parts["days"] * 24 + parts["hours"]
    return int(((hours * 60 + parts["minutes"]) * 60 + parts["seconds"]) * 1000)


class Phase(enum.Enum):
    """State of a partition's position.

    UNPOSITIONED: waits for the committed offset; then FETCHING or VALIDATING, or RESETTING if there
    is none. RESETTING: waits for an offset from the leader. VALIDATING: waits for the leader to
    confirm that the position is on its log (KIP-320). FETCHING: has a valid position; a leader
    change returns it to VALIDATING, an offset out of range to RESETTING. A seek changes any state
    to FETCHING or RESETTING.
    """

    UNPOSITIONED = "unpositioned"
    RESETTING = "resetting"
    VALIDATING = "validating"
    FETCHING = "fetching"


class ConsumedTopicMeters:
    """Records and bytes of one topic."""

    __slots__ = ("bytes", "fetch_size", "records")

    def __init__(self, created_ms: int) -> None:
        self.records = Meter(created_ms)
        self.bytes = Meter(created_ms)
        self.fetch_size = Meter(created_ms)

    def __iter__(self) -> Iterator[Meter]:
        yield from (self.records, self.bytes, self.fetch_size)


class PartitionMeters:
    """Lag and lead of one assigned partition, and the meters of its topic."""

    __slots__ = ("lag", "lead", "topic")

    def __init__(self, topic: ConsumedTopicMeters, created_ms: int) -> None:
        self.topic = topic
        self.lag = Meter(created_ms)
        self.lead = Meter(created_ms)


@dataclass(slots=True, eq=False)
class AssignedPartition:
    """State of one assigned partition, protected by the lock of its `SubscriptionState`."""

    partition: TopicPartition
    phase: Phase = Phase.UNPOSITIONED
    reader: RecordIterator | None = None
    _offset: int = -1
    _epoch: int = -1
    fetch_offset: int = -1
    leader_epoch: int = -1
    stamp: int = 0
    buffered_bytes: int = 0
    has_backlog: bool = False
    """Whether the limit of the last fetch cut its response off."""
    paused: bool = False
    reset: OffsetReset | None = None
    retry_at_ms: int = 0
    high_watermark: int = -1
    last_stable_offset: int = -1
    log_start_offset: int = -1
    preferred_replica: int = -1
    preferred_until_ms: int = 0
    assigned: bool = True
    meters: PartitionMeters | None = None
    """Set with the first fetched records."""

    @property
    def offset(self) -> int:
        return self._offset if self.reader is None else self.reader.position()[0]

    @property
    def epoch(self) -> int:
        """Leader epoch of the last record before the position."""
        if self.reader is None:
            return self._epoch
        return max(self._epoch, self.reader.position()[1])

    def set_position(self, offset: int, epoch: int) -> None:
        self.reader = None
        self._offset, self._epoch = offset, epoch

    def stop_reader(self) -> None:
        """Ends the block that is being read; its other records stay in the buffer."""
        if self.reader is not None:
            offset, epoch = self.reader.stop()
            self.set_position(offset, max(self._epoch, epoch))

    def pause(self) -> None:
        self.paused = True
        self.stop_reader()

    @property
    def has_position(self) -> bool:
        return self.phase in (Phase.FETCHING, Phase.VALIDATING)

    def move_to(self, offset: int, epoch: int = -1) -> None:
        """Sets the position; records that were fetched for another one become invalid."""
        self.void()
        self.set_position(offset, epoch)
        self.fetch_offset = offset
        self.reset = None
        self.retry_at_ms = 0
        self.phase = Phase.FETCHING

    def move_to_checked(self, offset: int, epoch: int) -> None:
        """Sets a position; with an epoch, the leader validates it before records are fetched."""
        self.move_to(offset, epoch)
        if epoch >= 0:
            self.phase = Phase.VALIDATING

    def request_reset(self, reset: OffsetReset) -> None:
        """Requests the position from the leader."""
        self.void()
        self.reset = reset
        self.retry_at_ms = 0
        self.phase = Phase.RESETTING

    def leader_changed(self, epoch: int) -> bool:
        """Stores the leader epoch; returns whether the position must be validated."""
        if epoch == self.leader_epoch:
            return False
        known, self.leader_epoch = self.leader_epoch, epoch
        self.preferred_replica = -1
        if known >= 0 and self.phase is Phase.FETCHING and self.epoch >= 0:
            self.void()
            self.fetch_offset = self.offset
            self.phase = Phase.VALIDATING
            return True
        return False

    def void(self) -> None:
        """Makes all fetched records invalid: they are not returned to the application."""
        self.stop_reader()
        self.stamp += 1
        self.buffered_bytes = 0

    def lag(self, committed_only: bool) -> int | None:
        """Returns the records between the position and the log end, None if one is unknown."""
        end = self.last_stable_offset if committed_only else self.high_watermark
        return max(end - self.offset, 0) if end >= 0 and self.has_position else None

    def lead(self) -> int | None:
        """Returns the records between the log start and the position, None if one is unknown."""
        if self.log_start_offset < 0 or not self.has_position:
            return None
        return max(self.offset - self.log_start_offset, 0)


class SubscriptionKind(enum.Enum):
    """How this consumer gets its partitions; only one way at a time."""

    NONE = "nothing"
    TOPICS = "subscribe(topics)"
    PATTERN = "subscribe(pattern)"
    ASSIGNED = "assign()"


class SubscriptionState:
    """Topics, assignment and positions of a consumer.

    `generation` counts the changes of the subscription.
    """

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.kind = SubscriptionKind.NONE
        self.topics: frozenset[str] = frozenset()
        self.pattern: re.Pattern[str] | None = None
        self.listener: Any = None
        self.generation = 0
        self._states: dict[TopicPartition, AssignedPartition] = {}
        # Of the polling thread. A partition that was revoked and assigned again has a new state, so
        # an old entry does not apply to it.
        self._in_progress: dict[AssignedPartition, tuple[int, int]] = {}
        self._confirmed: dict[TopicPartition, OffsetAndMetadata] = {}

    # -- subscription --------------------------------------------------------------------

    def subscribe(self, topics: Iterable[str], listener: Any) -> None:
        self._become(SubscriptionKind.TOPICS, listener)
        self.topics = frozenset(topics)

    def subscribe_pattern(self, pattern: "re.Pattern[str]", listener: Any) -> None:
        self._become(SubscriptionKind.PATTERN, listener)
        self.pattern = pattern
        self.topics = frozenset()

    def unsubscribe(self) -> None:
        """Removes the subscription and all assigned partitions."""
        self.kind = SubscriptionKind.NONE
        self.topics, self.pattern, self.listener = frozenset(), None, None
        self.generation += 1
        self.replace_assignment(())

    def assign(self, partitions: Iterable[TopicPartition]) -> None:
        """Assigns exactly these partitions, without a group."""
        self._become(SubscriptionKind.ASSIGNED, None)
        self.replace_assignment(partitions)

    @property
    def uses_group(self) -> bool:
        """Whether a group assigns the partitions."""
        return self.kind in (SubscriptionKind.TOPICS, SubscriptionKind.PATTERN)

    def matched(self, names: Iterable[str]) -> bool:
        """Sets the topics that match the pattern; returns whether they have changed."""
        found = frozenset(names)
        changed = found != self.topics
        self.topics = found
        return changed

    def _become(self, kind: SubscriptionKind, listener: Any) -> None:
        if self.kind not in (SubscriptionKind.NONE, kind):
            raise LocalError(f"{self.kind.value} is in use: unsubscribe() before {kind.value}")
        self.kind, self.listener = kind, listener
        self.generation += 1

    # -- assignment ----------------------------------------------------------------------

    def replace_assignment(self, partitions: Iterable[TopicPartition]) -> None:
        """Replaces the assignment; partitions that remain assigned keep their positions."""
        with self.lock:
            kept = {
                topic_partition: self._states.get(topic_partition)
                or AssignedPartition(topic_partition)
                for topic_partition in dict.fromkeys(partitions)
            }
            for topic_partition, state in self._states.items():
                if topic_partition not in kept:
                    state.void()
                    state.assigned = False
            self._states = kept

    def assigned(self) -> list[TopicPartition]:
        return list(self._states)

    def states(self) -> list[AssignedPartition]:
        """Returns a new list of the states of all assigned partitions."""
        return list(self._states.values())

    def get(self, topic_partition: TopicPartition) -> AssignedPartition | None:
        return self._states.get(topic_partition)

    def require(self, topic_partition: TopicPartition) -> AssignedPartition:
        """Returns the state of a partition; raises LocalError if it is not assigned."""
        state = self._states.get(topic_partition)
        if state is None:
            raise LocalError(f"{topic_partition} is not assigned to this consumer")
        return state

    # -- positions -----------------------------------------------------------------------------

    def change(
        self, partitions: Collection[TopicPartition], change: Callable[[AssignedPartition], object]
    ) -> None:
        """Applies a change to partitions; raises LocalError first if one is not assigned."""
        states = [self.require(topic_partition) for topic_partition in partitions]
        with self.lock:
            for state in states:
                change(state)

    def consumed(self) -> dict[TopicPartition, OffsetAndMetadata]:
        """Returns the positions: the offsets to commit after all returned records."""
        with self.lock:
            return {
                state.partition: _position_of(state)
                for state in self._states.values()
                if state.has_position
            }

    def in_phase(self, phase: Phase, now_ms: int) -> list[AssignedPartition]:
        """Returns the partitions in this phase whose retry time has come."""
        with self.lock:
            return [
                state
                for state in self._states.values()
                if state.phase is phase and state.retry_at_ms <= now_ms
            ]

    # -- records in progress: the polling thread ---------------------------------------------

    @property
    def has_records_in_progress(self) -> bool:
        return bool(self._in_progress)

    def begin_records(self, state: AssignedPartition) -> None:
        """Stores the position before the records that are about to be returned."""
        if state not in self._in_progress:
            self._in_progress[state] = (state.offset, state.epoch)

    def begin_last_record(self, state: AssignedPartition, offset: int, epoch: int) -> None:
        """Moves the stored position to the record that an iteration returned last."""
        _, before = self._in_progress[state]
        self._in_progress[state] = (offset, max(before, epoch))

    def confirm(self, offsets: Mapping[TopicPartition, OffsetAndMetadata]) -> None:
        """Stores offsets that the application commits: it has processed the records before them."""
        self._confirmed.update(offsets)

    def all_processed(self) -> None:
        """No record is in progress any more: the application asks for more of them."""
        self._in_progress.clear()
        self._confirmed.clear()

    def processed(self) -> dict[TopicPartition, OffsetAndMetadata]:
        """Returns the positions before the records in progress; none is beyond `consumed()`."""
        with self.lock:
            return {
                state.partition: self._processed(state)
                for state in self._states.values()
                if state.has_position
            }

    def _processed(self, state: AssignedPartition) -> OffsetAndMetadata:
        position = _position_of(state)
        if state not in self._in_progress:
            return position
        offset, epoch = self._in_progress[state]
        before = OffsetAndMetadata(offset, "", epoch)
        confirmed = self._confirmed.get(state.partition, before)
        # The position is the lowest of the three after a seek backwards.
        return min(max(before, confirmed, key=_offset_of), position, key=_offset_of)


def _position_of(state: AssignedPartition) -> OffsetAndMetadata:
    return OffsetAndMetadata(state.offset, "", state.epoch)


_offset_of = operator.attrgetter("offset")
