"""Follows one broker: selects the partitions of the next fetch and applies the responses.

Without IO: `poll(now)` returns the next request, `handle_*` applies its response, and
`fetcher_pool` sends it. A response is applied only if the partition still follows the same leader
in the same epoch and its log still ends at the fetched offset; otherwise it is dropped. A
truncation must precede any increase of the high watermark (KAFKA-14704).
"""

import enum
import logging
from collections.abc import Callable, Iterable, Sequence

from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BarnabasError, BrokerError
from barnabas.model.ids import BrokerId, TopicPartition
from barnabas.replication.epochs import LogEpochEnd
from barnabas.replication.isr import follower_high_watermark
from barnabas.replication.partition import Partition
from barnabas.replication.ports import (
    FetchedPartition,
    FetchPartition,
    LeaderOffsets,
    OffsetsPlan,
    ReplicaFetchLimits,
    ReplicaFetchPlan,
)
from barnabas.replication.throttle import ReplicationThrottle
from barnabas.storage.append_info import EarlierBatchError
from barnabas.storage.errors import TransientDiskError

_logger = logging.getLogger(__name__)


# --- Changes of the follower's log ----------------------------------------------------------------


def append_from_leader(
    partition: Partition,
    batches: memoryview | bytes,
    *,
    leader_high_watermark: int,
    leader_log_start: int,
) -> None:
    """Appends the leader's records, then adopts its high watermark and log start offset."""
    log = partition.log
    if len(batches):
        _append_batches(partition, batches)
        if partition.settings.request_flush is not None:
            partition.settings.request_flush(partition)
    watermark = follower_high_watermark(
        leader_high_watermark, log.log_end_offset, log.log_start_offset
    )
    partition.raise_high_watermark(watermark)
    if leader_log_start > log.log_start_offset:
        start = min(leader_log_start, log.high_watermark)
        log.increment_log_start_offset(start, "leader's log start")


def _append_batches(partition: Partition, batches: memoryview | bytes) -> None:
    partition.settings.count_replicated(partition.topic_partition.topic, len(batches))
    try:
        partition.log.append_as_follower(batches)
    except EarlierBatchError as error:
        if partition.log.log_end_offset > partition.log.log_start_offset:
            raise
        # The log is empty and starts at the leader's log start offset, which is inside a batch.
        partition.restart_at(error.first_offset)
        partition.log.append_as_follower(batches)


def truncate_to_divergence(partition: Partition, diverging: LogEpochEnd) -> None:
    """Removes records that the leader does not have; the next fetch checks again."""
    offset = partition.settings.rules.truncation_point(partition.log, diverging)
    # Expected only after an unclean election: a leader from the ISR has every committed record.
    if offset < partition.log.high_watermark:
        _logger.warning("%r truncates to %d, below its high watermark", partition, offset)
    partition.truncate_to(offset)


def realign(partition: Partition, leader_start: int, leader_end: int) -> bool:
    """Moves the log into the leader's range; returns False if it is in range already.

    A leader whose log ends before this one was elected uncleanly: the additional records are lost.
    A leader whose log starts after this one's end has deleted the records in between.
    """
    end = partition.log.log_end_offset
    if leader_end < end:
        partition.truncate_to(leader_end)
    elif leader_start > end:
        partition.restart_at(leader_start)
    else:
        return False
    return True


# --- Fetcher --------------------------------------------------------------------------------------


class FollowState(enum.Enum):
    """State of a followed partition.

    FETCHING: fetches from its log end offset; OFFSET_OUT_OF_RANGE leads to REALIGNING.
    REALIGNING: requests the leader's log start and end, then fetches again.
    FENCED: the leader has a newer epoch; a command of the controller leads to FETCHING.
    FAILED: the local disk failed; the broker will remove the replica. A full disk is retried
        instead.
    """

    FETCHING = "fetching"
    REALIGNING = "realigning"
    FENCED = "fenced"
    FAILED = "failed"


class FollowedPartition:
    """One partition of a fetcher."""

    __slots__ = (
        "_request",
        "caught_up",
        "lag",
        "leader_epoch",
        "partition",
        "quiet_since_ms",
        "ready_at_ms",
        "state",
    )

    def __init__(self, partition: Partition) -> None:
        self.partition = partition
        self.leader_epoch = partition.leader_epoch
        self.state = FollowState.FETCHING
        self.ready_at_ms = 0
        self.quiet_since_ms: int | None = None  # None while responses contain records
        self.caught_up = False  # whether it had all committed records at the last response
        self.lag = 0  # records behind the leader's high watermark at the last response
        self._request: FetchPartition | None = None

    def is_due(self, state: FollowState, now_ms: int) -> bool:
        return self.state is state and self.ready_at_ms <= now_ms and self.partition.may_fetch

    def request(self) -> FetchPartition:
        """Returns the position to fetch from; the same object while the position is the same."""
        partition, known = self.partition, self._request
        log = partition.log
        if (
            known is None
            or known.offset != log.log_end_offset
            or known.leader_epoch != partition.leader_epoch
            or known.log_start_offset != log.log_start_offset
            or known.last_fetched_epoch != log.latest_epoch
            or known.topic_id != partition.topic_id
        ):
            known = self._request = FetchPartition(
                partition.topic_partition,
                partition.topic_id,
                partition.leader_epoch,
                log.log_end_offset,
                log.latest_epoch,
                log.log_start_offset,
            )
        return known


class ReplicaFetcher:
    """The partitions followed from one broker; owned by the event loop.

    `on_caught_up` is called for partitions with all committed records (see `safety_rules`).
    """

    def __init__(
        self,
        source: BrokerId,
        limits: ReplicaFetchLimits,
        on_caught_up: Callable[[TopicPartition], None] = lambda _partition: None,
        throttle: ReplicationThrottle | None = None,
    ) -> None:
        self.source = source
        self._throttle = throttle
        self.limits = limits
        self._on_caught_up = on_caught_up
        self._followed: dict[TopicPartition, FollowedPartition] = {}

    def __len__(self) -> int:
        return len(self._followed)

    def __contains__(self, topic_partition: object) -> bool:
        return topic_partition in self._followed

    def state_of(self, topic_partition: TopicPartition) -> FollowState | None:
        followed = self._followed.get(topic_partition)
        return None if followed is None else followed.state

    def add(self, partition: Partition) -> None:
        """Follows this partition in its current epoch; a repeated call changes nothing."""
        if not self.follows(partition):
            self._followed[partition.topic_partition] = FollowedPartition(partition)

    def follows(self, partition: Partition) -> bool:
        """Whether this replica object is followed in its current epoch."""
        known = self._followed.get(partition.topic_partition)
        return (
            known is not None
            and known.partition is partition
            and known.leader_epoch == partition.leader_epoch
        )

    def remove(self, topic_partition: TopicPartition) -> None:
        self._followed.pop(topic_partition, None)

    @property
    def max_lag(self) -> int:
        """The largest number of committed records that a partition here lacks."""
        return max((followed.lag for followed in self._followed.values()), default=0)

    @property
    def all_caught_up(self) -> bool:
        """Whether all partitions were caught up at their last response."""
        return all(item.caught_up for item in self._followed.values())

    def take_quiet(self, now_ms: int, quiet_ms: int) -> list[FollowedPartition]:
        """Removes and returns the partitions that received nothing for `quiet_ms`."""
        return self._take(
            lambda item: (
                item.state is FollowState.FETCHING
                and item.quiet_since_ms is not None
                and now_ms - item.quiet_since_ms >= quiet_ms
            )
        )

    def take_busy(self) -> list[FollowedPartition]:
        """Removes and returns the partitions that received records with the last response."""
        return self._take(lambda item: item.quiet_since_ms is None)

    def adopt(self, taken: Iterable[FollowedPartition]) -> None:
        """Adds partitions that another fetcher of the same source has removed."""
        self._followed.update((item.partition.topic_partition, item) for item in taken)

    def _take(self, chosen: Callable[[FollowedPartition], bool]) -> list[FollowedPartition]:
        taken = [item for item in self._followed.values() if chosen(item)]
        for item in taken:
            del self._followed[item.partition.topic_partition]
        return taken

    # --- requests ---

    def poll(self, now_ms: int) -> ReplicaFetchPlan | OffsetsPlan | None:
        """Returns the next request, or None if no partition is due."""
        # Before the fetches: these partitions cannot fetch until they know the range of the leader.
        realigning = self._due(FollowState.REALIGNING, now_ms)
        if realigning:
            return OffsetsPlan(realigning)
        fetching = self._due(FollowState.FETCHING, now_ms)
        return ReplicaFetchPlan(fetching, self.limits) if fetching else None

    def wait_ms(self, now_ms: int) -> int | None:
        """Returns the time until `poll` may return a request; None if it needs an event."""
        waits = [
            max(followed.ready_at_ms - now_ms, self._throttled_ms(followed, now_ms))
            for followed in self._followed.values()
            if followed.state in (FollowState.FETCHING, FollowState.REALIGNING)
            and followed.partition.may_fetch
        ]
        return max(0, min(waits)) if waits else None

    def _due(self, state: FollowState, now_ms: int) -> tuple[FetchPartition, ...]:
        return tuple(
            followed.request()
            for followed in self._followed.values()
            if followed.is_due(state, now_ms) and not self._throttled_ms(followed, now_ms)
        )

    def _throttled_ms(self, followed: FollowedPartition, now_ms: int) -> int:
        # A replica that keeps up is never throttled: it would leave the ISR (KIP-73).
        if self._throttle is None or followed.caught_up:
            return 0
        return self._throttle.wait_ms(followed.partition.topic_partition, now_ms)

    # --- responses ---

    def handle_fetched(
        self, plan: ReplicaFetchPlan, responses: Sequence[FetchedPartition], now_ms: int
    ) -> None:
        """Applies a fetch response, partition by partition.

        The response omits partitions without records whose state at the leader is unchanged.
        """
        requested = {item.topic_partition: item for item in plan.partitions}
        for response in responses:
            request = requested.get(response.topic_partition)
            followed = self._current(request)
            if followed is None or request is None:
                continue
            if response.error is not ErrorCode.NONE:
                self._on_error(followed, response.error, now_ms)
            # Before the records: a response with a diverging epoch has none, and the log must be
            # truncated before it can fetch.
            elif response.diverging_epoch is not None:
                self._apply(followed, now_ms, _truncate, response)
            elif self._apply(followed, now_ms, _append, response):
                self._after_append(followed, response, now_ms)
            del requested[response.topic_partition]
        self._note_omitted(requested, now_ms)

    def _note_omitted(self, omitted: Iterable[TopicPartition], now_ms: int) -> None:
        for topic_partition in omitted:
            followed = self._followed.get(topic_partition)
            if followed is not None and followed.quiet_since_ms is None:
                followed.quiet_since_ms = now_ms

    def handle_offsets(
        self, plan: OffsetsPlan, responses: Sequence[LeaderOffsets], now_ms: int
    ) -> None:
        """Moves partitions with an offset out of range back into the leader's range."""
        requested = {item.topic_partition: item for item in plan.partitions}
        for response in responses:
            followed = self._current(requested.get(response.topic_partition))
            if followed is None:
                continue
            if response.error is not ErrorCode.NONE:
                self._on_error(followed, response.error, now_ms)
                continue
            followed.state = FollowState.FETCHING
            if not realign(followed.partition, response.start_offset, response.end_offset):
                # In range: the leader has not entered its epoch yet, or its log has just changed.
                followed.ready_at_ms = now_ms + self.limits.backoff_ms

    def handle_failure(self, plan: ReplicaFetchPlan | OffsetsPlan, now_ms: int) -> None:
        """Backs off after a request without a response."""
        for request in plan.partitions:
            followed = self._followed.get(request.topic_partition)
            if followed is not None:
                followed.ready_at_ms = now_ms + self.limits.backoff_ms

    def _current(self, request: FetchPartition | None) -> FollowedPartition | None:
        """Returns the partition of this request, or None if its state has changed since."""
        followed = None if request is None else self._followed.get(request.topic_partition)
        if followed is None or request is None:
            return None
        partition = followed.partition
        # While the request was in flight, a command may have changed leader or epoch and truncated
        # the log. Records of an older leader must not be appended after that (KIP-101).
        unmoved = (
            partition.leader == self.source
            and not partition.is_leader
            and request.leader_epoch == followed.leader_epoch == partition.leader_epoch
            and request.offset == partition.log.log_end_offset
        )
        return followed if unmoved else None

    def _apply(
        self,
        followed: FollowedPartition,
        now_ms: int,
        action: Callable[[Partition, FetchedPartition], None],
        response: FetchedPartition,
    ) -> bool:
        """Returns False after an error, which delays the next fetch; a failed disk ends it."""
        try:
            action(followed.partition, response)
        except TransientDiskError:
            followed.ready_at_ms = now_ms + self.limits.backoff_ms
        except BarnabasError as error:
            topic_partition = followed.partition.topic_partition
            _logger.warning("%s: cannot apply the fetch response: %s", topic_partition, error)
            if isinstance(error, BrokerError) and error.code is ErrorCode.KAFKA_STORAGE_ERROR:
                followed.state = FollowState.FAILED
            followed.ready_at_ms = now_ms + self.limits.backoff_ms
        else:
            return True
        return False

    def _after_append(
        self, followed: FollowedPartition, response: FetchedPartition, now_ms: int
    ) -> None:
        partition, log = followed.partition, followed.partition.log
        # Measured against the high watermark, not the leader's end, which the response does not
        # contain.
        followed.lag = max(response.high_watermark - log.log_end_offset, 0)
        followed.caught_up = not followed.lag
        if len(response.records):
            followed.quiet_since_ms = None
            if self._throttle is not None:
                self._throttle.record(partition.topic_partition, len(response.records), now_ms)
            # The leader fills a response in order, so a partition with records moves to the end.
            self._followed[partition.topic_partition] = self._followed.pop(
                partition.topic_partition
            )
        elif followed.quiet_since_ms is None:
            followed.quiet_since_ms = now_ms
        # Records of this leader's epoch prove that its start, and so everything that earlier
        # leaders committed, has been reached.
        if log.latest_epoch == partition.leader_epoch and followed.caught_up:
            self._on_caught_up(partition.topic_partition)

    def _on_error(self, followed: FollowedPartition, error: ErrorCode, now_ms: int) -> None:
        if error is ErrorCode.OFFSET_OUT_OF_RANGE:
            followed.state = FollowState.REALIGNING
        elif error is ErrorCode.FENCED_LEADER_EPOCH:
            # No retry: only a command of the controller can bring the newer epoch.
            followed.state = FollowState.FENCED
        else:
            # The source is not leader yet, does not list this replica yet, or has an older epoch:
            # a command of the controller has not reached one of the two brokers.
            followed.ready_at_ms = now_ms + self.limits.backoff_ms


def _truncate(partition: Partition, response: FetchedPartition) -> None:
    if response.diverging_epoch is not None:
        truncate_to_divergence(partition, response.diverging_epoch)


def _append(partition: Partition, response: FetchedPartition) -> None:
    append_from_leader(
        partition,
        response.records,
        leader_high_watermark=response.high_watermark,
        leader_log_start=response.log_start_offset,
    )
