"""What an append needs to be told and what it tells: small values of the log's interface."""

import enum
from typing import NamedTuple

from barnabas.records.batch import BatchHeader, Buffer
from barnabas.records.control import EndMarker, decode_end_marker
from barnabas.records.reader import iter_raw


class AppendOrigin(enum.Enum):
    """Who appends: decides what is checked.

    CLIENT: producer epoch, sequence, open transaction. COORDINATOR (group and transaction records,
    markers): epochs of markers. REPLICATION: nothing, the leader has decided.
    """

    CLIENT = "client"
    COORDINATOR = "coordinator"
    REPLICATION = "replication"


class AppendInfo(NamedTuple):
    """The outcome of an append; of a duplicate, that of the first time."""

    first_offset: int
    last_offset: int
    max_timestamp: int
    log_append_time_ms: int
    log_start_offset: int
    duplicate: bool


def end_marker_of(batch: Buffer, header: BatchHeader) -> EndMarker | None:
    """The marker in a control batch; None when it is of a kind that ends no transaction.

    Compaction may have emptied the batch: then the whole transaction is gone.
    """
    records = iter_raw(batch, 0, header)
    if not records:
        return None
    return decode_end_marker(records[0].key, records[0].value)
