"""The half of a consumer that waits for nothing: both flavours share it word for word."""

import re
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any

from barnabas.clients.group.core import ConsumerCore
from barnabas.clients.group.offset_reset import EARLIEST, LATEST, OffsetReset
from barnabas.clients.group.settings import ConsumerSettings
from barnabas.model.errors import BarnabasError, ClosedError, LocalError
from barnabas.model.group_metadata import GroupMetadata, OffsetAndMetadata
from barnabas.model.ids import TopicPartition, as_topic_partition
from barnabas.model.topic_names import topic_name_problem

Offsets = Mapping[TopicPartition, OffsetAndMetadata | int]
OnCommit = Callable[[Mapping[TopicPartition, OffsetAndMetadata], BarnabasError | None], Any]


class ConsumerBase:
    """Positions, pauses and figures. Used by one thread or task at a time."""

    _settings: ConsumerSettings
    _core: ConsumerCore
    _closed = False

    # -- what is read --------------------------------------------------------------------------

    def assignment(self) -> set[TopicPartition]:
        """The partitions that are read now."""
        return set(self._core.subscription.assigned())

    def subscription(self) -> set[str]:
        """The topics subscribed to, for a pattern those that fit it now."""
        return set(self._core.subscription.topics)

    def assign(self, partitions: Iterable[TopicPartition | tuple[str, int]]) -> None:
        """Read exactly these partitions, without a group's say; none ends the assignment.

        Raises LocalError for a name that no topic can have, and while topics are subscribed.
        """
        self._check_open()
        chosen = [_readable(topic_partition) for topic_partition in partitions]
        if not chosen and self._core.subscription.uses_group:
            raise LocalError("assign([]): this consumer is subscribed, call unsubscribe()")
        self._core.commit_soon()
        if chosen:
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
        """Read on from `offset`; an epoch beside it is checked against the log first."""
        at = OffsetAndMetadata(offset) if isinstance(offset, int) else offset
        if at.offset < 0:
            raise LocalError(f"{partition}: {at.offset} is not an offset")
        self._change([partition], lambda state: state.move_to_checked(at.offset, at.leader_epoch))

    def seek_to_beginning(self, *partitions: TopicPartition) -> None:
        """To the first offset there is; of all partitions when none is named."""
        self._reset(partitions, EARLIEST)

    def seek_to_end(self, *partitions: TopicPartition) -> None:
        """To the offset of the next record to come; of all partitions when none is named."""
        self._reset(partitions, LATEST)

    def pause(self, *partitions: TopicPartition) -> None:
        """Return no records of these until `resume`; what was fetched ahead is kept."""
        self._change(partitions, lambda state: setattr(state, "paused", True))

    def resume(self, *partitions: TopicPartition) -> None:
        self._change(partitions, lambda state: setattr(state, "paused", False))

    def paused(self) -> set[TopicPartition]:
        return {state.partition for state in self._core.subscription.states() if state.paused}

    # -- figures -------------------------------------------------------------------------------

    def lag(self, partition: TopicPartition) -> int | None:
        """Records between the position and the end as last told; None before that is known."""
        state = self._core.subscription.require(partition)
        return state.lag(self._settings.committed_only)

    def metrics(self) -> dict[str, Any]:
        """Figures of this moment: per partition position, lag and lead; bytes fetched ahead."""
        states = self._core.subscription.states()
        return {
            "buffered-bytes": self._core.buffer.total_bytes,
            "assigned-partitions": len(states),
            "records-lag-max": max(
                (state.lag(self._settings.committed_only) or 0 for state in states), default=0
            ),
            "partitions": {
                state.partition: {
                    "position": state.offset if state.has_position else None,
                    "records-lag": state.lag(self._settings.committed_only),
                    "records-lead": state.lead(),
                    "paused": state.paused,
                }
                for state in states
            },
        }

    def group_metadata(self) -> GroupMetadata:
        """Who this consumer is to its group: for `send_offsets_to_transaction`."""
        found = self._core.group_metadata()
        if found is None:
            raise LocalError("group_metadata() needs the configuration group.id")
        return found

    # -- inside --------------------------------------------------------------------------------

    def _reset(self, partitions: Collection[TopicPartition], to: OffsetReset) -> None:
        chosen = partitions or self._core.subscription.assigned()
        self._change(chosen, lambda state: state.ask_for(to))

    def _change(self, partitions: Collection[TopicPartition], change: Any) -> None:
        self._check_open()
        self._core.subscription.change(
            [as_topic_partition(topic_partition) for topic_partition in partitions], change
        )
        self._core.wake()

    def _offsets(self, given: Offsets | None) -> dict[TopicPartition, OffsetAndMetadata]:
        if given is None:
            return self._core.subscription.consumed()
        return {
            as_topic_partition(topic_partition): OffsetAndMetadata(at)
            if isinstance(at, int)
            else at
            for topic_partition, at in given.items()
        }

    def _check_open(self) -> None:
        if self._closed:
            raise ClosedError("the consumer is closed")

    def _check_processes(self) -> None:
        if self._settings.group is None or self._settings.auto_commit:
            raise LocalError("process() commits itself: set group.id, enable.auto.commit=false")

    def _check_reads(self) -> None:
        self._check_open()
        if self._core.subscription.kind.name == "NONE":
            raise LocalError("nothing to poll: subscribe() or assign() first")


def _readable(topic_partition: object) -> TopicPartition:
    topic_partition = as_topic_partition(topic_partition)
    _check_name(topic_partition.topic)
    if topic_partition.partition < 0:
        raise LocalError(f"{topic_partition}: a partition number is not negative")
    return topic_partition


def _check_name(topic: object) -> None:
    if not isinstance(topic, str):
        raise TypeError(f"a topic is named by a str, not {topic!r}")
    problem = topic_name_problem(topic)
    if problem is not None:
        raise LocalError(problem)
