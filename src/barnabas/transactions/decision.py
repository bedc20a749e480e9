"""Decisions about one transactional id, and the append that makes a decision durable.

`init_producer`, `add_partitions` and `end_txn` return a `Decision`: reject the request, leave the
id unchanged, change it, or get a producer id first. The shard turns it into an outcome. Their
functions are pure and read the state of one id.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from barnabas.coordination.outcome import PendingAppend
from barnabas.model.error_codes import ErrorCode
from barnabas.transactions.metadata import Transition
from barnabas.transactions.requests import Reply

ReplyT = TypeVar("ReplyT", bound=Reply)


@dataclass(slots=True, eq=False)
class TransactionAppend(PendingAppend, Generic[ReplyT]):
    """Records of changed transactional ids.

    Until the append is settled, every other change of these ids gets CONCURRENT_TRANSACTIONS.
    """

    changes: Mapping[str, Transition] = field(default_factory=dict)
    reply: ReplyT | None = None
    """The reply if the append succeeds; None when no client waits."""


@dataclass(frozen=True, slots=True)
class Refuse:
    """Reply with this error; nothing changes."""

    error: ErrorCode


@dataclass(frozen=True, slots=True)
class Unchanged:
    """The id already has the requested state: reply with success and write no record."""


@dataclass(frozen=True, slots=True)
class NeedProducerId:
    """The decision needs a new producer id."""


@dataclass(frozen=True, slots=True)
class Change:
    """Write this transition, then reply."""

    to: Transition


Decision = Refuse | Unchanged | NeedProducerId | Change

CONCURRENT = Refuse(ErrorCode.CONCURRENT_TRANSACTIONS)
FENCED = Refuse(ErrorCode.PRODUCER_FENCED)
WRONG_PRODUCER_ID = Refuse(ErrorCode.INVALID_PRODUCER_ID_MAPPING)
WRONG_STATE = Refuse(ErrorCode.INVALID_TXN_STATE)
