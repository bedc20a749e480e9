"""Reads records out of batches: fetch responses for consumers, single batches for the broker.

`FetchDecoder` goes batch by batch, so a consumer that takes 500 records at a time decodes no
more than the batches it needs. It skips what applications never see: control batches, aborted
transactions, records below the fetch offset, a cut-off tail. Old message sets (magic 0 and 1)
are handed to `legacy`. Raises CorruptRecordError only.
"""

from collections.abc import Iterable
from typing import NamedTuple

from barnabas.model.errors import CorruptRecordError
from barnabas.model.records import NO_EPOCH
from barnabas.records import legacy
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
    crc_ok,
    parse_header,
)
from barnabas.records.compression import DEFAULT_MAX_DECOMPRESSED, decompress
from barnabas.records.control import ControlType, decode_control_type
from barnabas.records.raw_record import RawRecord

_UNLIMITED = 2**63 - 1
# Arrow's 32-bit offsets: stop before a column could pass 2 GiB.
_MAX_COLUMN_BYTES = 2**30


class DecodedRecords(NamedTuple):
    """What one fetch response held for one partition."""

    records: list[Record]
    next_offset: int
    """Where to fetch next; past skipped and emptied batches too."""
    last_leader_epoch: int
    """The epoch of the last batch read, -1 when unknown; for truncation detection (KIP-320)."""


def records_section(
    buf: Buffer, pos: int, header: BatchHeader, max_decompressed: int = DEFAULT_MAX_DECOMPRESSED
) -> Buffer:
    """The plain bytes of the batch's records; without a copy when they are not compressed."""
    if len(buf) - pos < header.size:
        raise CorruptRecordError(f"{len(buf) - pos} bytes of a batch of {header.size}")
    section = memoryview(buf)[pos + HEADER_SIZE : pos + header.size]
    if header.attributes & CODEC_MASK == 0 or not section:
        return section
    return decompress(header.codec, section, max_decompressed)


def iter_raw(
    buf: Buffer, pos: int, header: BatchHeader, max_decompressed: int = DEFAULT_MAX_DECOMPRESSED
) -> list[RawRecord]:
    """Every record of the batch at `pos`, control records included; the checksum is not checked."""
    return RecordCursor(records_section(buf, pos, header, max_decompressed), header).raw()


class FetchDecoder:
    """Decodes one partition's part of a fetch response, as far as it is asked to.

    `aborted` is the response's list of (producer id, first offset), None when reading
    uncommitted. A corrupt batch raises when it is the next to be read: records before it are
    given first, so the reader's position moves up to it and stays there.
    Owned by one thread at a time.
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
        # Latest first, to pop from the end; brokers are not trusted to sort it.
        self._aborted = (
            None if aborted is None else sorted(aborted, key=lambda entry: entry[1], reverse=True)
        )
        self._aborting: set[int] = set()
        self._surplus: list[Record] = []

    @property
    def position(self) -> int:
        """The offset after all that was taken; `next_offset` is that of all that was decoded."""
        return self._surplus[0].offset if self._surplus else self.next_offset

    @property
    def exhausted(self) -> bool:
        """Whether nothing is left but a cut-off tail; False before an error yet to be raised."""
        if self._surplus:
            return False
        try:
            return self._next_size() == 0
        except CorruptRecordError:
            return False

    def take(self, max_records: int = _UNLIMITED) -> list[Record]:
        """Up to `max_records` of the records that follow; fewer only when nothing is left."""
        out, self._surplus = self._surplus, []
        try:
            while len(out) < max_records and self._decode_next(out):
                pass
        except CorruptRecordError:
            if not out:
                raise
        if len(out) > max_records:
            self._surplus = out[max_records:]
            del out[max_records:]
        return out

    def take_batch(self) -> list[Record]:
        """All records of the next batch that has any to show; [] when nothing is left."""
        out, self._surplus = self._surplus, []
        while not out and self._decode_next(out):
            pass
        return out

    def take_columns(self, columns: ArrowColumns, max_records: int = _UNLIMITED) -> None:
        """As `take`, whole batches into Arrow buffers; may pass `max_records` by one batch."""
        columns.reserve(self._end - self._pos)
        try:
            while (
                columns.count < max_records
                and columns.size < _MAX_COLUMN_BYTES
                and self._decode_next(columns)
            ):
                pass
        except CorruptRecordError:
            if not columns.count:
                raise

    def _next_size(self) -> int:
        """Bytes of the batch at the cursor, 0 when no whole one is left."""
        left = self._end - self._pos
        if left <= MAGIC_OFFSET:
            return 0
        length = int.from_bytes(self._buf[self._pos + 8 : self._pos + 12], "big", signed=True)
        if length < legacy.MIN_MESSAGE_SIZE:
            raise CorruptRecordError(f"a batch length of {length}")
        size = LOG_OVERHEAD + length
        return size if size <= left else 0

    def _decode_next(self, out: "list[Record] | ArrowColumns") -> bool:
        """Decode one batch into `out`; False when none is left."""
        size = self._next_size()
        if size == 0:
            return False
        magic = self._buf[self._pos + MAGIC_OFFSET]
        if magic == MAGIC:
            self._decode_batch(out)
        elif magic < MAGIC:
            self._decode_message(size, out)
        else:
            raise CorruptRecordError(f"magic {magic} is not a format we know")
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
        # A batch that turns out corrupt half-way must leave none of its records behind.
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
    """All records of one partition's part of a fetch response; see `FetchDecoder`."""
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
