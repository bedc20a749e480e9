"""Parameters and results of appends, and the checks of a follower's batches."""

import enum
from typing import NamedTuple

from barnabas.model.errors import CorruptRecordError
from barnabas.records.batch import BatchHeader, Buffer, crc_ok, iter_batches
from barnabas.records.control import EndMarker, decode_end_marker
from barnabas.records.reader import iter_raw


class AppendOrigin(enum.Enum):
    """Origin of an append; it determines the checks.

    CLIENT: producer epoch, sequence, open transaction. COORDINATOR (group and transaction records,
    markers): epochs of markers. REPLICATION: none, the leader has checked them.
    """

    CLIENT = "client"
    COORDINATOR = "coordinator"
    REPLICATION = "replication"


class AppendInfo(NamedTuple):
    """Result of an append; for a duplicate, the result of the first append."""

    first_offset: int
    last_offset: int
    max_timestamp: int
    log_append_time_ms: int
    log_start_offset: int
    duplicate: bool


class EarlierBatchError(CorruptRecordError):
    """The first batch contains the log end offset but starts before it.

    A leader sends such a batch if its log start offset is inside one (DeleteRecords).
    """

    def __init__(self, first_offset: int, log_end_offset: int) -> None:
        super().__init__(
            f"a batch at offset {first_offset}, but the log continues at {log_end_offset}"
        )
        self.first_offset = first_offset


def follower_batches(batches: Buffer, log_end_offset: int) -> list[tuple[int, BatchHeader]]:
    """Returns the whole batches with their positions; raises if the log cannot append them."""
    headers = list(iter_batches(batches))
    expected = log_end_offset
    if headers and headers[0][1].base_offset < expected <= headers[0][1].last_offset:
        raise EarlierBatchError(headers[0][1].base_offset, expected)
    for position, header in headers:
        if header.base_offset < expected:
            raise CorruptRecordError(
                f"a batch at offset {header.base_offset}, but the log continues at {expected}"
            )
        if not crc_ok(batches, position, header):
            raise CorruptRecordError(f"bad checksum in {header!r}")
        expected = header.next_offset
    return headers


def end_marker_of(batch: Buffer, header: BatchHeader) -> EndMarker | None:
    """Returns the end marker of a control batch; None for other control records.

    Also None if compaction has removed the record: then the whole transaction is removed.
    """
    records = iter_raw(batch, 0, header)
    if not records:
        return None
    return decode_end_marker(records[0].key, records[0].value)
