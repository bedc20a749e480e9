"""What a request may do to one transactional id: refuse, leave as is, change, or ask for an id.

The modules `init_producer`, `add_partitions` and `end_txn` return one of these; the shard turns it
into an outcome. Their functions are pure and see one id only.
"""

from dataclasses import dataclass

from barnabas.model.error_codes import ErrorCode
from barnabas.transactions.metadata import Transition


@dataclass(frozen=True, slots=True)
class Refuse:
    """Answer with this error; nothing changes."""

    error: ErrorCode


@dataclass(frozen=True, slots=True)
class Unchanged:
    """It is so already: answer success without a record."""


@dataclass(frozen=True, slots=True)
class NeedProducerId:
    """A fresh producer id is needed to decide."""


@dataclass(frozen=True, slots=True)
class Change:
    """Write this, then answer."""

    to: Transition


Decision = Refuse | Unchanged | NeedProducerId | Change

CONCURRENT = Refuse(ErrorCode.CONCURRENT_TRANSACTIONS)
FENCED = Refuse(ErrorCode.PRODUCER_FENCED)
WRONG_PRODUCER_ID = Refuse(ErrorCode.INVALID_PRODUCER_ID_MAPPING)
WRONG_STATE = Refuse(ErrorCode.INVALID_TXN_STATE)
