"""Reads every record of fetched batches with its batch and the state of its transaction.

Unlike a consumer's decoder, this module keeps control records and records of aborted transactions,
because the console shows the log as it is stored. A batch that cannot be decoded becomes one entry
with the reason, so that the records after it can still be read.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal

from barnabas.clients.simple.requests import FetchedBatches
from barnabas.console.models.records import BatchBody
from barnabas.model.errors import CorruptRecordError
from barnabas.model.records import Header, TimestampType
from barnabas.records.batch import (
    LOG_OVERHEAD,
    MAGIC,
    MAGIC_OFFSET,
    BatchHeader,
    crc_ok,
    parse_header,
)
from barnabas.records.control import ControlType, decode_control_type, decode_end_marker
from barnabas.records.legacy import MIN_MESSAGE_SIZE, decode_message
from barnabas.records.reader import iter_raw

TransactionState = Literal["committed", "aborted", "open"]
COMMITTED: Final = "committed"
ABORTED: Final = "aborted"
OPEN: Final = "open"


@dataclass(frozen=True, slots=True)
class LogEntry:
    """One record of a partition.

    `transaction` is None, committed, aborted or open (not visible to `read_committed` consumers
    yet); `control` is None, commit or abort; `problem` is the reason why the batch cannot be
    decoded.
    """

    topic: str
    partition: int
    offset: int
    timestamp: int
    append_time: bool
    key: bytes | None
    value: bytes | None
    headers: tuple[Header, ...]
    batch: BatchBody
    transaction: TransactionState | None = None
    control: str | None = None
    problem: str | None = None

    @property
    def timestamp_type(self) -> TimestampType:
        return TimestampType.LOG_APPEND_TIME if self.append_time else TimestampType.CREATE_TIME

    @property
    def size_bytes(self) -> int:
        """Bytes of key, value and headers."""
        size = len(self.key or b"") + len(self.value or b"")
        return size + sum(len(name) + len(value or b"") for name, value in self.headers)


def log_entries(fetched: FetchedBatches) -> tuple[list[LogEntry], int]:
    """Returns the entries from the fetched offset on and the next offset to fetch."""
    walk = _Walk(fetched)
    entries: list[LogEntry] = []
    for part in walk.batches():
        entries.extend(entry for entry in part if entry.offset >= fetched.fetch_offset)
    return entries, walk.next_offset


class _Walk:
    """One pass over the batches of a fetch response."""

    def __init__(self, fetched: FetchedBatches) -> None:
        self._fetched = fetched
        self._data = fetched.data
        self._aborted = sorted(fetched.aborted or (), key=lambda item: item[1], reverse=True)
        self._aborting: set[int] = set()
        self.next_offset = fetched.fetch_offset

    def batches(self) -> Iterator[list[LogEntry]]:
        position = 0
        while (size := self._size_at(position)) > 0:
            if self._data[position + MAGIC_OFFSET] == MAGIC:
                yield self._batch(position)
            else:
                yield self._message(self._data[position : position + size])
            position += size

    def _size_at(self, position: int) -> int:
        """Returns the size of the whole batch at a position; 0 if there is none."""
        left = len(self._data) - position
        if left <= MAGIC_OFFSET:
            return 0
        length = int.from_bytes(self._data[position + 8 : position + 12], "big", signed=True)
        if length < MIN_MESSAGE_SIZE:
            raise CorruptRecordError(f"a batch cannot have the length {length}")
        return LOG_OVERHEAD + length if LOG_OVERHEAD + length <= left else 0

    def _batch(self, position: int) -> list[LogEntry]:
        header = parse_header(self._data, position)
        self.next_offset = max(self.next_offset, header.next_offset)
        info = _info(header)
        try:
            if not crc_ok(self._data, position, header):
                raise CorruptRecordError("the checksum of the batch is wrong")
            raw = iter_raw(self._data, position, header, self._fetched.max_decompressed)
        except CorruptRecordError as error:
            return [self._broken(info, str(error))]
        state = self._transaction_state(header)
        append_time = header.timestamp_type is TimestampType.LOG_APPEND_TIME
        entries = []
        for record in raw:
            control = _control(record.key) if header.is_control else None
            if control == ABORTED:
                self._aborting.discard(header.producer_id)
            entries.append(
                LogEntry(
                    *self._fetched.partition, record.offset, record.timestamp, append_time,
                    record.key, _marker_text(record.key, record.value) if control else record.value,
                    record.headers, info, None if control else state,
                    {COMMITTED: "commit", ABORTED: "abort"}.get(control or "", control),
                )
            )  # fmt: skip
        return entries

    def _transaction_state(self, header: BatchHeader) -> TransactionState | None:
        while self._aborted and self._aborted[-1][1] <= header.last_offset:
            self._aborting.add(self._aborted.pop()[0])
        if not header.is_transactional:
            return None
        stable = self._fetched.last_stable_offset
        if header.base_offset >= stable and (stable >= 0 or self._fetched.aborted is None):
            return OPEN
        return ABORTED if header.producer_id in self._aborting else COMMITTED

    def _message(self, data: memoryview) -> list[LogEntry]:
        offset = int.from_bytes(data[:8], "big", signed=True)
        magic = data[MAGIC_OFFSET]
        info = _message_set(range(offset, offset + 1), 1, len(data), magic, "unknown")
        try:
            found = decode_message(data, max_decompressed=self._fetched.max_decompressed)
        except CorruptRecordError as error:
            self.next_offset = max(self.next_offset, offset + 1)
            return [self._broken(info, str(error))]
        self.next_offset = max(self.next_offset, found.next_offset)
        offsets = range(found.records[0].offset, found.next_offset)
        codec = "none" if len(found.records) == 1 else "compressed"
        info = _message_set(offsets, len(found.records), len(data), magic, codec)
        append_time = found.timestamp_type is TimestampType.LOG_APPEND_TIME
        return [
            LogEntry(
                *self._fetched.partition, record.offset, record.timestamp, append_time,
                record.key, record.value, (), info,
            )
            for record in found.records
        ]  # fmt: skip

    def _broken(self, info: BatchBody, problem: str) -> LogEntry:
        offset = max(info.base_offset, self._fetched.fetch_offset)
        return LogEntry(
            *self._fetched.partition, offset, info.max_timestamp, False, None, None, (), info,
            problem=problem,
        )  # fmt: skip


def _message_set(offsets: range, records: int, size: int, magic: int, codec: str) -> BatchBody:
    """Returns the batch of a message set of magic 0 or 1."""
    return BatchBody(
        base_offset=offsets.start,
        last_offset=offsets.stop - 1,
        records=records,
        size_bytes=size,
        magic=magic,
        codec=codec,
        leader_epoch=-1,
        producer_id=-1,
        producer_epoch=-1,
        base_sequence=-1,
        transactional=False,
        max_timestamp=-1,
    )


def _info(header: BatchHeader) -> BatchBody:
    return BatchBody(
        base_offset=header.base_offset,
        last_offset=header.last_offset,
        records=header.records_count,
        size_bytes=header.size,
        magic=header.magic,
        codec=_codec_name(header),
        leader_epoch=header.partition_leader_epoch,
        producer_id=header.producer_id,
        producer_epoch=header.producer_epoch,
        base_sequence=header.base_sequence,
        transactional=header.is_transactional,
        max_timestamp=header.max_timestamp,
    )


def _codec_name(header: BatchHeader) -> str:
    try:
        return header.codec.name.lower()
    except CorruptRecordError as error:
        return str(error)


def _control(key: bytes | None) -> str:
    try:
        kind = decode_control_type(key)
    except CorruptRecordError:
        return "control"
    return {ControlType.COMMIT: COMMITTED, ControlType.ABORT: ABORTED}.get(kind, "control")


def _marker_text(key: bytes | None, value: bytes | None) -> bytes | None:
    """Returns a readable text for the value of an end marker."""
    try:
        marker = decode_end_marker(key, value)
    except CorruptRecordError:
        return value
    return value if marker is None else b"coordinator epoch %d" % marker.coordinator_epoch
