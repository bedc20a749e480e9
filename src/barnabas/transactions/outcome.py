"""What a step of the coordinator asks its driver to do.

An `Outcome` is complete: whatever is not in it must not happen. The order of work is: answer
`reply` if there is one; write `append` and every append of `background`; send `markers`; ask for a
producer id if `need_producer_id`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from barnabas.model.ids import TopicPartition
from barnabas.transactions.metadata import Transition
from barnabas.transactions.requests import Reply

ReplyT = TypeVar("ReplyT", bound=Reply)


@dataclass(frozen=True, slots=True, eq=False)
class PendingAppend(Generic[ReplyT]):
    """Records to write to the shard's partition with acks=all, as one batch.

    Hand the same object to `append_succeeded` when the records are committed, or to
    `append_failed`. Exactly one of the two must be called, once; until then every change of the
    transactional ids concerned is answered CONCURRENT_TRANSACTIONS.
    """

    records: tuple[tuple[bytes, bytes | None], ...]
    changes: Mapping[str, Transition]
    reply: ReplyT | None = None
    """The answer if the append succeeds; None when nobody waits."""


@dataclass(frozen=True, slots=True)
class SendMarkers:
    """WriteTxnMarkers to the leaders of these partitions.

    The driver groups the partitions by leader, sends, and reports with `markers_written`, in one
    call or several, every partition exactly once: its error, REQUEST_TIMED_OUT when no answer came,
    or membership in `deleted` when the partition exists no more.
    """

    transactional_id: str
    producer_id: int
    producer_epoch: int
    commit: bool
    coordinator_epoch: int
    transaction_version: int
    partitions: tuple[TopicPartition, ...]
    attempt: int = 0
    """Tells this request from earlier ones of the same transaction."""


@dataclass(frozen=True, slots=True)
class Outcome(Generic[ReplyT]):
    """The result of one step."""

    reply: ReplyT | None = None
    """The answer to the request, when it can be given now."""
    append: PendingAppend[ReplyT] | None = None
    """The append whose end brings the answer: `append_succeeded(append).reply`."""
    background: tuple[PendingAppend[Any], ...] = ()
    """Appends nobody waits for."""
    markers: tuple[SendMarkers, ...] = ()
    need_producer_id: bool = False
    """Get a fresh producer id and call the same operation again with `new_producer_id=`."""
