"""What an append needs to be told and what it tells: small values of the log's interface."""

import enum
from typing import NamedTuple

from barnabas.model.errors import CorruptRecordError
from barnabas.records.batch import BatchHeader, Buffer, crc_ok, iter_batches
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


class EarlierBatchError(CorruptRecordError):
    """The first batch holds the offset at which the log goes on, and begins before it.

    A leader sends such a batch when its log start lies within one (DeleteRecords).
    """

    def __init__(self, first_offset: int, log_end_offset: int) -> None:
        super().__init__(
            f"a batch at offset {first_offset} where the log goes on at {log_end_offset}"
        )
        self.first_offset = first_offset


def follower_batches(batches: Buffer, log_end_offset: int) -> list[tuple[int, BatchHeader]]:
    """The whole batches a leader sent, with their positions, if the log can go on with them."""
    headers = list(iter_batches(batches))
    expected = log_end_offset
    if headers and headers[0][1].base_offset < expected <= headers[0][1].last_offset:
        raise EarlierBatchError(headers[0][1].base_offset, expected)
    for position, header in headers:
        if header.base_offset < expected:
            raise CorruptRecordError(
                f"a batch at offset {header.base_offset} where the log goes on at {expected}"
            )
        if not crc_ok(batches, position, header):
            raise CorruptRecordError(f"bad checksum in {header!r}")
        expected = header.next_offset
    return headers


def end_marker_of(batch: Buffer, header: BatchHeader) -> EndMarker | None:
    """The marker in a control batch; None when it is of a kind that ends no transaction.

    Compaction may have emptied the batch: then the whole transaction is gone.
    """
    records = iter_raw(batch, 0, header)
    if not records:
        return None
    return decode_end_marker(records[0].key, records[0].value)
