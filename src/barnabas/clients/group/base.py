"""The calls that the blocking and the asyncio consumer share; none of them blocks."""

import operator
import re
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from barnabas.clients.group.core import ConsumerCore
from barnabas.clients.group.errors import WakeupError
from barnabas.clients.group.settings import ConsumerSettings
from barnabas.clients.group.subscription import EARLIEST, LATEST, AssignedPartition, OffsetReset
from barnabas.model.errors import BarnabasError, ClosedError, LocalError
from barnabas.model.ids import TopicPartition, as_topic_partition, topic_name_problem
from barnabas.model.records import GroupMetadata, OffsetAndMetadata
from barnabas.runtime.metric_types import MetricValues

if TYPE_CHECKING:
    # The default makes `Consumer` valid without parameters; `typing` supports it since Python 3.13.
    from typing_extensions import TypeVar

    K = TypeVar("K", default=Any)
    V = TypeVar("V", default=Any)
else:
    from typing import TypeVar

    K = TypeVar("K")
    V = TypeVar("V")

Offsets = Mapping[TopicPartition, OffsetAndMetadata | int]
Partitions = TopicPartition | Collection[TopicPartition]
CLOSE_SECONDS = 30.0
PING_SECONDS = 10.0
ITERATION_SECONDS = 1.0
"""An iteration without records checks after this time whether the consumer was closed."""
ASSIGNMENT_CHECK_SECONDS = 0.05
"""`wait_for_assignment` checks its condition at least this often."""
OnCommit = Callable[[Mapping[TopicPartition, OffsetAndMetadata], BarnabasError | None], Any]


class ConsumerBase:
    """Assignment, positions, pauses and metrics. One thread or task at a time may use it."""

    _settings: ConsumerSettings
    _core: ConsumerCore
    _closed = False
    _woken: bool
    _SUBSCRIBE = "subscribe()"

    def __repr__(self) -> str:
        group = self._settings.group
        more = {} if group is None else {"group.id": group.group_id}
        return self._settings.client.describe("Consumer", **more)

    # -- subscription --------------------------------------------------------------------------

    def assignment(self) -> set[TopicPartition]:
        """Returns the partitions that are assigned to this consumer."""
        return set(self._core.subscription.assigned())

    def subscription(self) -> set[str]:
        """Returns the subscribed topics; for a pattern, the topics that match it now."""
        return set(self._core.subscription.topics)

    def assign(self, partitions: Iterable[TopicPartition | tuple[str, int]]) -> None:
        """Reads exactly these partitions, without group management.

        Args:
            partitions: an empty list ends the assignment and commits nothing.

        Raises:
            LocalError: a topic name is invalid, or topics are subscribed.
        """
        self._check_open()
        chosen = [_readable(topic_partition) for topic_partition in partitions]
        if not chosen and self._core.subscription.uses_group:
            raise LocalError("assign([]): this consumer is subscribed, call unsubscribe()")
        if chosen:
            self._core.commit_soon()
            self._core.subscription.assign(chosen)
        else:
            self._core.subscription.unsubscribe()
        self._core.wake()

    def _subscribe(self, topics: "Iterable[str] | re.Pattern[str]", listener: Any) -> None:
        self._check_open()
        if self._settings.group is None:
            raise LocalError("subscribe() needs the configuration group.id")
        if isinstance(topics, str):
            raise TypeError("subscribe() takes a list of topics, or a compiled pattern")
        if isinstance(topics, re.Pattern):
            self._core.subscription.subscribe_pattern(topics, listener)
        else:
            names = list(topics)
            for name in names:
                _check_name(name)
            self._core.subscription.subscribe(names, listener)
        self._core.wake()

    # -- positions -----------------------------------------------------------------------------

    def seek(self, partition: TopicPartition, offset: int | OffsetAndMetadata) -> None:
        """Sets the position: the next record that is returned has this offset or a higher one.

        Args:
            partition: an assigned partition.
            offset: with an `OffsetAndMetadata`, its leader epoch is checked against the log first.

        Raises:
            LocalError: the partition is not assigned, or the offset is negative.

        >>> consumer.seek(TopicPartition("orders", 0), 42)  # doctest: +SKIP
        """
        at = _as_offset(offset)
        if at.offset < 0:
            raise LocalError(f"{partition}: {at.offset} is not an offset")
        self._change([partition], lambda state: state.move_to_checked(at.offset, at.leader_epoch))

    def seek_to_beginning(self, *partitions: Partitions) -> None:
        """Moves partitions, by default all assigned ones, to the start of their logs."""
        self._reset(chosen_partitions(partitions), EARLIEST)

    def seek_to_end(self, *partitions: Partitions) -> None:
        """Moves partitions, by default all assigned ones, to the end of their logs."""
        self._reset(chosen_partitions(partitions), LATEST)

    def pause(self, *partitions: Partitions) -> None:
        """Returns no records of these partitions until `resume`; fetched records are kept."""
        self._change(chosen_partitions(partitions), AssignedPartition.pause)

    def resume(self, *partitions: Partitions) -> None:
        """Returns records of paused partitions again."""
        chosen = chosen_partitions(partitions)
        self._change(chosen, lambda state: setattr(state, "paused", False))

    def paused(self) -> set[TopicPartition]:
        """Returns the partitions that `pause` has stopped."""
        return {state.partition for state in self._core.subscription.states() if state.paused}

    # -- metrics -------------------------------------------------------------------------------

    def lag(self, partition: TopicPartition) -> int | None:
        """Returns the records between the position and the end of the log; None if unknown."""
        state = self._core.subscription.require(partition)
        return state.lag(self._settings.committed_only)

    def metrics(self) -> MetricValues:
        """Returns the current metrics, under Kafka's names (docs/metrics.md). Any thread.

        >>> consumer.metrics().value("records-lag", topic="orders", partition=0)  # doctest: +SKIP
        42.0
        """
        return MetricValues(self._core.metrics.read(), self._former_metrics())

    def _former_metrics(self) -> dict[str, Any]:
        """Returns the dictionary that metrics() returned before; its keys are deprecated."""
        states = self._core.subscription.states()
        committed_only = self._settings.committed_only
        return {
            "buffered-bytes": self._core.buffer.total_bytes,
            "assigned-partitions": len(states),
            "records-lag-max": max((s.lag(committed_only) or 0 for s in states), default=0),
            "partitions": {
                state.partition: {
                    "position": state.offset if state.has_position else None,
                    "records-lag": state.lag(committed_only),
                    "records-lead": state.lead(),
                    "paused": state.paused,
                }
                for state in states
            },
        }

    def group_metadata(self) -> GroupMetadata:
        """Returns the identity of this group member, for `send_offsets_to_transaction`."""
        found = self._core.group_metadata()
        if found is None:
            raise LocalError("group_metadata() needs the configuration group.id")
        return found

    # -- private ------------------------------------------------------------------------------

    def _raise_wakeup(self) -> None:
        if self._woken:
            self._woken = False
            raise WakeupError("wakeup() was called")

    def _reset(self, partitions: Collection[TopicPartition], reset: OffsetReset) -> None:
        chosen = partitions or self._core.subscription.assigned()
        self._change(chosen, lambda state: state.request_reset(reset))

    def _change(
        self, partitions: Collection[TopicPartition], change: Callable[[AssignedPartition], object]
    ) -> None:
        self._check_open()
        self._core.subscription.change(
            [as_topic_partition(topic_partition) for topic_partition in partitions], change
        )
        self._core.wake()

    def _confirmed(self, given: object) -> dict[TopicPartition, OffsetAndMetadata]:
        """Returns the offsets of a commit by the application, by default all positions.

        The records before them count as processed, whatever happens next.
        """
        offsets = self._offsets(given)
        self._core.subscription.confirm(offsets)
        return offsets

    def _offsets(self, given: object) -> dict[TopicPartition, OffsetAndMetadata]:
        if given is None:
            return self._core.subscription.consumed()
        if not isinstance(given, Mapping):
            wanted = "a mapping such as {TopicPartition('orders', 0): 42}"
            raise TypeError(f"the offsets must be {wanted}, not {given!r}")
        return {
            as_topic_partition(topic_partition): _as_offset(at)
            for topic_partition, at in given.items()
        }

    def _limit(self, timeout_s: float | None) -> float:
        return self._settings.api_timeout_s if timeout_s is None else timeout_s

    def _failed_in_progress(self, error: BaseException | None) -> bool:
        """Returns whether an error has ended a `with` block while records were in progress.

        The application may not have processed the records that it got last, so they must be read
        again. It has processed all of them if poll() or the iteration itself raised the error.
        """
        if error is None or isinstance(error, SystemExit):
            return False
        return self._core.subscription.has_records_in_progress

    def _check_open(self) -> None:
        if self._closed:
            raise ClosedError("the consumer is closed")

    def _check_processes(self) -> None:
        if self._settings.group is None or self._settings.auto_commit:
            raise LocalError("process() commits itself: set group.id, enable.auto.commit=false")

    def _check_reads(self) -> None:
        self._check_open()
        if self._core.subscription.kind.name == "NONE":
            raise LocalError(f"nothing to poll: {self._SUBSCRIBE} or assign() first")


def chosen_partitions(partitions: tuple[Any, ...]) -> Collection[TopicPartition]:
    """Returns the partitions of a call with several arguments, or with one list or set."""
    match partitions:
        case [list() | set() | frozenset() as several]:
            return several
    return partitions


def _as_offset(value: object) -> OffsetAndMetadata:
    if isinstance(value, OffsetAndMetadata):
        return value
    try:
        return OffsetAndMetadata(operator.index(value))  # type: ignore[arg-type]  # checked by index
    except TypeError:
        raise TypeError(f"an offset must be an int or OffsetAndMetadata, not {value!r}") from None


def _readable(topic_partition: object) -> TopicPartition:
    topic_partition = as_topic_partition(topic_partition)
    _check_name(topic_partition.topic)
    if topic_partition.partition < 0:
        raise LocalError(f"{topic_partition}: a partition number must not be negative")
    return topic_partition


def _check_name(topic: object) -> None:
    if not isinstance(topic, str):
        raise TypeError(f"the name of a topic must be a str, not {topic!r}")
    problem = topic_name_problem(topic)
    if problem is not None:
        raise LocalError(problem)
