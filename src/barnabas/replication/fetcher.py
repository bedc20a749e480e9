"""Following one broker: which partitions to fetch next, and what to do with the answers.

Sans-IO: `poll(now)` says what to ask, `handle_*` takes what came back; `fetcher_driver` does the
asking. An answer counts only when the partition still follows the same leader in the same epoch
and still ends where it was asked from: everything else was overtaken and is dropped.
"""

import enum
import logging
from collections.abc import Callable, Iterable, Sequence

from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BarnabasError, BrokerError
from barnabas.model.ids import BrokerId, TopicPartition
from barnabas.replication import following
from barnabas.replication.fetch_plan import (
    FetchedPartition,
    FetchLimits,
    FetchPartition,
    FetchPlan,
    LeaderOffsets,
    OffsetsPlan,
)
from barnabas.replication.partition import Partition
from barnabas.replication.throttle import ReplicationThrottle
from barnabas.storage.errors import TransientDiskError

logger = logging.getLogger(__name__)


class FollowState(enum.Enum):
    """Where a followed partition stands.

    FETCHING: fetches from its log's end; an out-of-range answer leads to REALIGNING.
    REALIGNING: asks for the leader's bounds, then fetches again.
    FENCED: the leader knows a newer epoch; waits for the controller, which leads to FETCHING.
    FAILED: its own disk failed; waits for the broker to give the replica up. A full disk is tried
        again instead.
    """

    FETCHING = "fetching"
    REALIGNING = "realigning"
    FENCED = "fenced"
    FAILED = "failed"


class Followed:
    """One partition of a fetcher."""

    __slots__ = ("caught_up", "leader_epoch", "partition", "quiet_since_ms", "ready_at_ms", "state")

    def __init__(self, partition: Partition) -> None:
        self.partition = partition
        self.leader_epoch = partition.leader_epoch
        self.state = FollowState.FETCHING
        self.ready_at_ms = 0
        self.quiet_since_ms: int | None = None  # None while it gets something with each answer
        self.caught_up = False  # whether it had all that was committed, at the last answer

    def is_due(self, state: FollowState, now_ms: int) -> bool:
        return self.state is state and self.ready_at_ms <= now_ms and self.partition.may_fetch


class ReplicaFetcher:
    """The partitions followed from one broker; owned by the broker's loop.

    `on_caught_up` hears of partitions that hold all that is committed (see `unclean_start`).
    """

    def __init__(
        self,
        source: BrokerId,
        limits: FetchLimits,
        on_caught_up: Callable[[TopicPartition], None] = lambda _partition: None,
        throttle: ReplicationThrottle | None = None,
    ) -> None:
        self.source = source
        self._throttle = throttle
        self.limits = limits
        self._on_caught_up = on_caught_up
        self._followed: dict[TopicPartition, Followed] = {}

    def __len__(self) -> int:
        return len(self._followed)

    def __contains__(self, topic_partition: object) -> bool:
        return topic_partition in self._followed

    def state_of(self, topic_partition: TopicPartition) -> FollowState | None:
        followed = self._followed.get(topic_partition)
        return None if followed is None else followed.state

    def add(self, partition: Partition) -> None:
        """Follow this partition in its present epoch; a repetition changes nothing."""
        if not self.follows(partition):
            self._followed[partition.topic_partition] = Followed(partition)

    def follows(self, partition: Partition) -> bool:
        """Whether this very replica is followed in its present epoch."""
        known = self._followed.get(partition.topic_partition)
        return (
            known is not None
            and known.partition is partition
            and known.leader_epoch == partition.leader_epoch
        )

    def remove(self, topic_partition: TopicPartition) -> None:
        self._followed.pop(topic_partition, None)

    @property
    def all_caught_up(self) -> bool:
        """Whether nothing more is to be had now; a leader's throttle may hold something back."""
        return all(item.caught_up for item in self._followed.values())

    def take_quiet(self, now_ms: int, quiet_ms: int) -> list[Followed]:
        """Give away the partitions that have got nothing for this long."""
        return self._take(
            lambda item: (
                item.state is FollowState.FETCHING
                and item.quiet_since_ms is not None
                and now_ms - item.quiet_since_ms >= quiet_ms
            )
        )

    def take_busy(self) -> list[Followed]:
        """Give away the partitions that got something with the last answer."""
        return self._take(lambda item: item.quiet_since_ms is None)

    def adopt(self, taken: Iterable[Followed]) -> None:
        """Go on with partitions that another fetcher of the same source gave away."""
        self._followed.update((item.partition.topic_partition, item) for item in taken)

    def _take(self, chosen: Callable[[Followed], bool]) -> list[Followed]:
        taken = [item for item in self._followed.values() if chosen(item)]
        for item in taken:
            del self._followed[item.partition.topic_partition]
        return taken

    # --- asking ---

    def poll(self, now_ms: int) -> FetchPlan | OffsetsPlan | None:
        """The next request to send, or None while there is nothing due."""
        realigning = self._due(FollowState.REALIGNING, now_ms)
        if realigning:
            return OffsetsPlan(realigning)
        fetching = self._due(FollowState.FETCHING, now_ms)
        return FetchPlan(fetching, self.limits) if fetching else None

    def wait_ms(self, now_ms: int) -> int | None:
        """How long until `poll` may have something, or None when only a change can bring it."""
        waits = [
            max(followed.ready_at_ms - now_ms, self._throttled_ms(followed, now_ms))
            for followed in self._followed.values()
            if followed.state in (FollowState.FETCHING, FollowState.REALIGNING)
            and followed.partition.may_fetch
        ]
        return max(0, min(waits)) if waits else None

    def _due(self, state: FollowState, now_ms: int) -> tuple[FetchPartition, ...]:
        return tuple(
            _to_fetch(followed.partition)
            for followed in self._followed.values()
            if followed.is_due(state, now_ms) and not self._throttled_ms(followed, now_ms)
        )

    def _throttled_ms(self, followed: Followed, now_ms: int) -> int:
        if self._throttle is None or followed.caught_up:
            return 0
        return self._throttle.wait_ms(followed.partition.topic_partition, now_ms)

    # --- hearing ---

    def handle_fetched(
        self, plan: FetchPlan, answers: Sequence[FetchedPartition], now_ms: int
    ) -> None:
        """Apply what a leader sent, partition by partition."""
        asked = {item.topic_partition: item for item in plan.partitions}
        for answer in answers:
            request = asked.get(answer.topic_partition)
            followed = self._current(request)
            if followed is None or request is None:
                continue
            if answer.error is not ErrorCode.NONE:
                self._on_error(followed, answer.error, now_ms)
            elif answer.diverging_epoch is not None:
                self._apply(followed, now_ms, _truncate, answer)
            else:
                self._apply(followed, now_ms, _append, answer)
                self._after_append(followed, answer, now_ms)

    def handle_offsets(
        self, plan: OffsetsPlan, answers: Sequence[LeaderOffsets], now_ms: int
    ) -> None:
        """Bring partitions whose offset the leader lacks back into its range."""
        asked = {item.topic_partition: item for item in plan.partitions}
        for answer in answers:
            followed = self._current(asked.get(answer.topic_partition))
            if followed is None:
                continue
            if answer.error is not ErrorCode.NONE:
                self._on_error(followed, answer.error, now_ms)
                continue
            followed.state = FollowState.FETCHING
            if not following.realign(followed.partition, answer.start_offset, answer.end_offset):
                # In range after all: the leader has yet to hear of its epoch, or has just moved.
                followed.ready_at_ms = now_ms + self.limits.backoff_ms

    def handle_failure(self, plan: FetchPlan | OffsetsPlan, now_ms: int) -> None:
        """Nothing came back: leave the source alone for a while."""
        for request in plan.partitions:
            followed = self._followed.get(request.topic_partition)
            if followed is not None:
                followed.ready_at_ms = now_ms + self.limits.backoff_ms

    def _current(self, request: FetchPartition | None) -> Followed | None:
        """The followed partition this request was made for, unless it has moved on since."""
        followed = None if request is None else self._followed.get(request.topic_partition)
        if followed is None or request is None:
            return None
        partition = followed.partition
        unmoved = (
            partition.leader == self.source
            and not partition.is_leader
            and request.leader_epoch == followed.leader_epoch == partition.leader_epoch
            and request.offset == partition.log.log_end_offset
        )
        return followed if unmoved else None

    def _apply(
        self,
        followed: Followed,
        now_ms: int,
        action: Callable[[Partition, FetchedPartition], None],
        answer: FetchedPartition,
    ) -> None:
        try:
            action(followed.partition, answer)
        except TransientDiskError:
            followed.ready_at_ms = now_ms + self.limits.backoff_ms
        except BarnabasError as error:
            logger.warning("%r: cannot take over what the leader sent: %s", followed, error)
            if isinstance(error, BrokerError) and error.code is ErrorCode.KAFKA_STORAGE_ERROR:
                followed.state = FollowState.FAILED
            followed.ready_at_ms = now_ms + self.limits.backoff_ms

    def _after_append(self, followed: Followed, answer: FetchedPartition, now_ms: int) -> None:
        partition, log = followed.partition, followed.partition.log
        followed.caught_up = log.log_end_offset >= answer.high_watermark
        if len(answer.records):
            followed.quiet_since_ms = None
            if self._throttle is not None:
                self._throttle.record(partition.topic_partition, len(answer.records), now_ms)
            # The next response is filled in order: who got something now waits for the others.
            self._followed[partition.topic_partition] = self._followed.pop(
                partition.topic_partition
            )
        elif followed.quiet_since_ms is None:
            followed.quiet_since_ms = now_ms
        # Records of this leader's epoch prove that its start, and so everything that earlier
        # leaders committed, has been reached.
        if log.latest_epoch == partition.leader_epoch and followed.caught_up:
            self._on_caught_up(partition.topic_partition)

    def _on_error(self, followed: Followed, error: ErrorCode, now_ms: int) -> None:
        if error is ErrorCode.OFFSET_OUT_OF_RANGE:
            followed.state = FollowState.REALIGNING
        elif error is ErrorCode.FENCED_LEADER_EPOCH:
            followed.state = FollowState.FENCED
        else:
            # Not the leader yet, not a replica yet, a newer epoch than it knows: commands of the
            # controller are on their way to one of us.
            followed.ready_at_ms = now_ms + self.limits.backoff_ms


def _to_fetch(partition: Partition) -> FetchPartition:
    log = partition.log
    return FetchPartition(
        partition.topic_partition,
        partition.topic_id,
        partition.leader_epoch,
        log.log_end_offset,
        log.latest_epoch,
        log.log_start_offset,
    )


def _truncate(partition: Partition, answer: FetchedPartition) -> None:
    if answer.diverging_epoch is not None:
        following.truncate_to_divergence(partition, answer.diverging_epoch)


def _append(partition: Partition, answer: FetchedPartition) -> None:
    following.append(
        partition,
        answer.records,
        leader_high_watermark=answer.high_watermark,
        leader_log_start=answer.log_start_offset,
    )
