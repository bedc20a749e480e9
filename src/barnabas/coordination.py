"""The result of one coordinator step: records to append, replies, timers and markers.

Both coordinators are pure: an operation takes a request and the time and returns a
`CoordinatorOutcome`. The runtime of a shard executes every outcome the same way:

1. When `append` is set, the step is not settled. The runtime appends the records as one batch
   (transactional, when `append.producer` is set), then calls `shard.settle(append, code, now_ms)`
   with NONE or the error of the append, and executes the outcome that `settle` returns instead.
   Everything else in an unsettled outcome counts only after `settle` returned it.
2. It starts and cancels `timers` in order, and passes each timer that fires to the shard.
3. It sends `reply`, which is the reply to the current request. When the request is parked, `parked`
   is its token, and a later outcome carries the reply in `completions`.
4. It appends and settles every append of `background`, for which no client waits.
5. It sends `markers` to the partition leaders and reports the results to the shard.

The two coordinators settle at different times. A group shard settles when the records are in the
local log, and its replies wait until the high watermark covers every record that the shard wrote
before or in that step: a reply can depend on an earlier record that is not committed yet, and must
not be lost with the leader. A transaction shard settles when the records are committed, so its
replies never wait. Group steps of one shard do not overlap: the append is a synchronous call on the
loop that owns the shard, so no other operation runs between a step and its settlement.
"""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, NamedTuple, TypeVar

from barnabas.model.error_codes import ErrorCode
from barnabas.model.ids import TopicPartition
from barnabas.model.records import Header

_APPEND_ERRORS = {
    ErrorCode.UNKNOWN_TOPIC_OR_PARTITION: ErrorCode.COORDINATOR_NOT_AVAILABLE,
    ErrorCode.NOT_ENOUGH_REPLICAS: ErrorCode.COORDINATOR_NOT_AVAILABLE,
    ErrorCode.NOT_ENOUGH_REPLICAS_AFTER_APPEND: ErrorCode.COORDINATOR_NOT_AVAILABLE,
    ErrorCode.REQUEST_TIMED_OUT: ErrorCode.COORDINATOR_NOT_AVAILABLE,
    ErrorCode.NOT_LEADER_OR_FOLLOWER: ErrorCode.NOT_COORDINATOR,
    ErrorCode.KAFKA_STORAGE_ERROR: ErrorCode.NOT_COORDINATOR,
    ErrorCode.MESSAGE_TOO_LARGE: ErrorCode.UNKNOWN_SERVER_ERROR,
    ErrorCode.RECORD_LIST_TOO_LARGE: ErrorCode.UNKNOWN_SERVER_ERROR,
    ErrorCode.INVALID_FETCH_SIZE: ErrorCode.UNKNOWN_SERVER_ERROR,
}
ReplyT_co = TypeVar("ReplyT_co", covariant=True)
Token = int
"""Identifies one parked request of one shard; never reused."""


def coordinator_error(append_error: ErrorCode) -> ErrorCode:
    """Returns the error for a member or producer whose record could not be appended."""
    return _APPEND_ERRORS.get(append_error, append_error)


def offset_commit_error(append_error: ErrorCode) -> ErrorCode:
    """Returns the error for an offset commit; the client caused a record that is too large."""
    if append_error in (ErrorCode.MESSAGE_TOO_LARGE, ErrorCode.RECORD_LIST_TOO_LARGE):
        return ErrorCode.INVALID_COMMIT_OFFSET_SIZE
    return coordinator_error(append_error)


class CoordinatorRecord(NamedTuple):
    """One record of a coordinator's topic; a None value is a tombstone.

    Headers are for tools that read the topic; a coordinator does not read them.
    """

    key: bytes
    value: bytes | None
    headers: Sequence[Header] = ()


class ProducerSession(NamedTuple):
    """The transactional producer under whose id records must be appended."""

    producer_id: int
    producer_epoch: int


class SetTimer(NamedTuple):
    """Fire `key` once, `delay_ms` of monotonic time from now; replaces a running timer."""

    key: Hashable
    delay_ms: int


class CancelTimer(NamedTuple):
    """Cancel the timer `key` if it is set."""

    key: Hashable


class Completion(NamedTuple):
    """The reply to a request that an earlier step parked. Each token is completed exactly once."""

    token: Token
    reply: Any
    """The type is that of the parked request, which an earlier outcome belongs to."""


@dataclass(slots=True, eq=False)
class PendingAppend:
    """Records that the runtime appends to the shard's partition with acks=all, as one batch.

    Each coordinator adds in a subclass the data that its `settle` needs. The runtime settles every
    append exactly once.
    """

    records: Sequence[CoordinatorRecord]
    producer: ProducerSession | None = None


@dataclass(frozen=True, slots=True)
class SendMarkers:
    """WriteTxnMarkers to the leaders of these partitions.

    The runtime groups the partitions by leader, sends the requests, and reports every partition
    exactly once with `markers_written`, in one call or several: its error, REQUEST_TIMED_OUT when
    there was no response, or membership in `deleted` when the partition no longer exists.
    """

    transactional_id: str
    producer_id: int
    producer_epoch: int
    commit: bool
    coordinator_epoch: int
    transaction_version: int
    partitions: tuple[TopicPartition, ...]
    attempt: int = 0
    """Distinguishes this request from earlier ones of the same transaction."""


@dataclass(slots=True)
class CoordinatorOutcome(Generic[ReplyT_co]):
    """The result of one step. The module docstring describes how the runtime executes it."""

    reply: ReplyT_co | None = None
    append: PendingAppend | None = None
    """A `PendingAppend` of the shard that made the outcome; None once the step is settled."""
    background: tuple[PendingAppend, ...] = ()
    """Further `PendingAppend` values, for which no client waits."""
    completions: list[Completion] = field(default_factory=list)
    timers: list[SetTimer | CancelTimer] = field(default_factory=list)
    parked: Token | None = None
    markers: tuple[SendMarkers, ...] = ()
    need_producer_id: bool = False
    """Get a new producer id and call the same operation again with `new_producer_id=`."""

    @property
    def settled(self) -> bool:
        """Whether no append is pending, so that replies and timers count."""
        return self.append is None

    @property
    def records(self) -> Sequence[CoordinatorRecord]:
        """Returns the records to append, none for a settled outcome."""
        return () if self.append is None else self.append.records

    def set_timer(self, key: Hashable, delay_ms: int) -> None:
        self.timers.append(SetTimer(key, delay_ms))

    def cancel_timer(self, key: Hashable) -> None:
        self.timers.append(CancelTimer(key))

    def complete(self, token: Token, reply: object) -> None:
        """Adds the reply to a request that an earlier step parked."""
        self.completions.append(Completion(token, reply))
