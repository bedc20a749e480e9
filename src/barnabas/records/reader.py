"""Reads records out of batches: fetch responses for consumers, single batches for the broker.

`FetchDecoder` decodes batch by batch, so a consumer that takes 500 records at a time decodes only
the batches that it needs. It skips control batches, aborted transactions, records below the fetch
offset and an incomplete batch at the end. `legacy` decodes old message sets (magic 0 and 1). Raises
CorruptRecordError only.
"""

from collections.abc import Iterable
from typing import NamedTuple

from barnabas.model.errors import CorruptRecordError
from barnabas.model.records import NO_EPOCH
from barnabas.records import legacy
from barnabas.records._batches_hot import BatchPass
from barnabas.records._columns_hot import ArrowColumns
from barnabas.records._record_hot import Record
from barnabas.records._records_hot import RecordCursor
from barnabas.records.batch import (
    CODEC_MASK,
    HEADER_SIZE,
    LOG_OVERHEAD,
    MAGIC,
    MAGIC_OFFSET,
    BatchHeader,
    Buffer,
    codec_of,
    crc_ok,
    parse_header,
)
from barnabas.records.compression import DEFAULT_MAX_DECOMPRESSED, decompress
from barnabas.records.control import ControlType, decode_control_type
from barnabas.records.record import RawRecord

_UNLIMITED = 2**63 - 1
# Arrow's 32-bit offsets: stop before a column could pass 2 GiB.
_MAX_COLUMN_BYTES = 2**30


class DecodedRecords(NamedTuple):
    """The records of one partition in one fetch response."""

    records: list[Record]
    next_offset: int
    """Where to fetch next; past skipped and emptied batches too."""
    last_leader_epoch: int
    """The epoch of the last batch read, -1 when unknown; for truncation detection (KIP-320)."""


def records_section(
    buf: Buffer, pos: int, header: BatchHeader, max_decompressed: int = DEFAULT_MAX_DECOMPRESSED
) -> Buffer:
    """Returns the decompressed records of the batch; a view if they are not compressed."""
    if len(buf) - pos < header.size:
        raise CorruptRecordError(
            f"the batch has {header.size} bytes, but {len(buf) - pos} are left"
        )
    section = memoryview(buf)[pos + HEADER_SIZE : pos + header.size]
    if header.attributes & CODEC_MASK == 0 or not section:
        return section
    return decompress(header.codec, section, max_decompressed)


def iter_raw(
    buf: Buffer, pos: int, header: BatchHeader, max_decompressed: int = DEFAULT_MAX_DECOMPRESSED
) -> list[RawRecord]:
    """Yields every record of the batch at `pos`, including control records; ignores the
    checksum.
    """
    return RecordCursor(records_section(buf, pos, header, max_decompressed), header).raw()


def _unpack(codec: int, section: memoryview, max_size: int) -> Buffer:
    return decompress(codec_of(codec), section, max_size)


class FetchDecoder:
    """Decodes one partition of a fetch response, as many batches as are requested.

    `aborted` is the response's list of (producer id, first offset), None for READ_UNCOMMITTED. A
    corrupt batch raises when it is next: the records before it are returned first, so the position
    of the reader stays at the corrupt batch. Owned by one thread at a time.
    """

    __slots__ = (
        "_aborted",
        "_aborting",
        "_buf",
        "_check_crcs",
        "_end",
        "_max_decompressed",
        "_pos",
        "_surplus",
        "last_leader_epoch",
        "next_offset",
        "partition",
        "topic",
    )

    def __init__(  # noqa: PLR0913 - the partition, the position, and three options
        self,
        buf: Buffer,
        topic: str,
        partition: int,
        *,
        fetch_offset: int = 0,
        max_decompressed: int = DEFAULT_MAX_DECOMPRESSED,
        aborted: Iterable[tuple[int, int]] | None = None,
        check_crcs: bool = True,
    ) -> None:
        self.topic = topic
        self.partition = partition
        self.next_offset = fetch_offset
        self.last_leader_epoch = NO_EPOCH
        self._buf = buf
        self._pos = 0
        self._end = len(buf)
        self._max_decompressed = max_decompressed
        self._check_crcs = check_crcs
        # Latest first, to pop from the end. The protocol does not require a sorted list.
        self._aborted = (
            None if aborted is None else sorted(aborted, key=lambda entry: entry[1], reverse=True)
        )
        self._aborting: set[int] = set()
        self._surplus: list[Record] = []

    @property
    def position(self) -> int:
        """The offset after the last record that was taken.

        `next_offset` is the offset after the last record that was decoded.
        """
        return self._surplus[0].offset if self._surplus else self.next_offset

    @property
    def exhausted(self) -> bool:
        """Whether only an incomplete batch remains; False before an error that will be raised."""
        if self._surplus:
            return False
        try:
            return self._next_size() == 0
        except CorruptRecordError:
            return False

    def take(self, max_records: int = _UNLIMITED) -> list[Record]:
        """Returns up to `max_records` of the next records; fewer only at the end."""
        out = self.take_batches(max_records)
        if len(out) > max_records:
            self._surplus = out[max_records:]
            del out[max_records:]
        return out

    def take_batches(self, least: int) -> list[Record]:
        """Returns the records of the next batches, of each all: at least `least` records, fewer at
        the end or before a corrupt batch; [] at the end.
        """
        out, self._surplus = self._surplus, []
        try:
            while len(out) < least and (self._append_batches(out, least) or self._decode_next(out)):
                pass
        except CorruptRecordError:
            if not out:
                raise
        return out

    def take_columns(self, columns: ArrowColumns, max_records: int = _UNLIMITED) -> None:
        """Adds whole batches to Arrow buffers; may exceed `max_records` by one batch."""
        columns.reserve(self._end - self._pos)
        try:
            while columns.count < max_records and columns.size < _MAX_COLUMN_BYTES:
                if not self._add_batches(columns, max_records) and not self._decode_next(columns):
                    break
        except CorruptRecordError:
            if not columns.count:
                raise

    def _add_batches(self, columns: ArrowColumns, max_records: int) -> bool:
        """Adds batches in compiled code; returns False if the next one needs
        `_decode_next`.
        """
        batches = self._start_pass()
        batches.add(columns, max_records, not self._aborted and not self._aborting)
        return self._end_pass(batches)

    def _append_batches(self, out: list[Record], least: int) -> bool:
        """Appends the records of batches in compiled code; returns False if the next batch needs
        `_decode_next`.
        """
        batches = self._start_pass()
        committed = not self._aborted and not self._aborting
        batches.append(out, least, self.topic, self.partition, committed)
        return self._end_pass(batches)

    def _start_pass(self) -> BatchPass:
        batches = BatchPass(self._buf, self._check_crcs, _unpack, self._max_decompressed)
        batches.pos, batches.next_offset = self._pos, self.next_offset
        return batches

    def _end_pass(self, batches: BatchPass) -> bool:
        """Takes over the position of a pass; returns False if it has not moved."""
        if batches.pos == self._pos:
            return False
        self._pos, self.next_offset = batches.pos, batches.next_offset
        self.last_leader_epoch = batches.leader_epoch
        return True

    def _next_size(self) -> int:
        """Returns the size of the batch at the cursor, 0 if there is no complete one."""
        left = self._end - self._pos
        if left <= MAGIC_OFFSET:
            return 0
        length = int.from_bytes(self._buf[self._pos + 8 : self._pos + 12], "big", signed=True)
        if length < legacy.MIN_MESSAGE_SIZE:
            raise CorruptRecordError(f"a batch length of {length}")
        size = LOG_OVERHEAD + length
        return size if size <= left else 0

    def _decode_next(self, out: "list[Record] | ArrowColumns") -> bool:
        """Decodes one batch into `out`; returns False at the end."""
        size = self._next_size()
        if size == 0:
            return False
        magic = self._buf[self._pos + MAGIC_OFFSET]
        if magic == MAGIC:
            self._decode_batch(out)
        elif magic < MAGIC:
            self._decode_message(size, out)
        else:
            raise CorruptRecordError(f"magic {magic} is an unknown format")
        self._pos += size
        return True

    def _decode_batch(self, out: "list[Record] | ArrowColumns") -> None:
        header = parse_header(self._buf, self._pos)
        if header.next_offset > self.next_offset:
            if self._check_crcs and not crc_ok(self._buf, self._pos, header):
                raise CorruptRecordError(f"wrong checksum of the batch at {header.base_offset}")
            if self._visible(header):
                self._decode_visible(header, out)
            self.next_offset = header.next_offset
        self.last_leader_epoch = header.partition_leader_epoch

    def _decode_visible(self, header: BatchHeader, out: "list[Record] | ArrowColumns") -> None:
        section = records_section(self._buf, self._pos, header, self._max_decompressed)
        cursor = RecordCursor(section, header)
        # If a batch is corrupt, none of its records may stay in the result.
        if isinstance(out, list):
            start = len(out)
            try:
                cursor.records(self.topic, self.partition, self.next_offset, out)
            except CorruptRecordError:
                del out[start:]
                raise
            return
        mark = out.mark()
        try:
            cursor.columns(out, self.next_offset)
        except CorruptRecordError:
            out.rollback(mark)
            raise

    def _visible(self, header: BatchHeader) -> bool:
        if self._aborted is None:
            return not header.is_control
        while self._aborted and self._aborted[-1][1] <= header.last_offset:
            self._aborting.add(self._aborted.pop()[0])
        if header.is_control:
            self._end_transaction(header)
            return False
        return not (header.is_transactional and header.producer_id in self._aborting)

    def _end_transaction(self, header: BatchHeader) -> None:
        if header.producer_id not in self._aborting:
            return
        for record in iter_raw(self._buf, self._pos, header, self._max_decompressed):
            if decode_control_type(record.key) is ControlType.ABORT:
                self._aborting.discard(header.producer_id)

    def _decode_message(self, size: int, out: "list[Record] | ArrowColumns") -> None:
        message = memoryview(self._buf)[self._pos : self._pos + size]
        batch = legacy.decode_message(
            message, check_crcs=self._check_crcs, max_decompressed=self._max_decompressed
        )
        for record in batch.records:
            if record.offset < self.next_offset:
                continue
            if isinstance(out, list):
                out.append(
                    Record(
                        self.topic,
                        self.partition,
                        record.offset,
                        record.timestamp,
                        batch.timestamp_type,
                        record.key,
                        record.value,
                    )
                )
            else:
                out.append(record.offset, record.timestamp, record.key, record.value)
        self.next_offset = max(self.next_offset, batch.next_offset)


def decode_records(  # noqa: PLR0913 - a FetchDecoder's options in one call
    buf: Buffer,
    topic: str,
    partition: int,
    *,
    fetch_offset: int = 0,
    max_decompressed: int = DEFAULT_MAX_DECOMPRESSED,
    aborted: Iterable[tuple[int, int]] | None = None,
    check_crcs: bool = True,
) -> DecodedRecords:
    """Returns all records of one partition of a fetch response; see `FetchDecoder`."""
    decoder = FetchDecoder(
        buf,
        topic,
        partition,
        fetch_offset=fetch_offset,
        max_decompressed=max_decompressed,
        aborted=aborted,
        check_crcs=check_crcs,
    )
    records = decoder.take()
    return DecodedRecords(records, decoder.next_offset, decoder.last_leader_epoch)
