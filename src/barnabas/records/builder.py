"""Builds record batches of magic 2: header, records, compression, checksum.

The compiled `RecordAppender` encodes records; this module has the code that runs once per batch. An
uncompressed batch is finished in the buffer of its records; a compressed one needs one copy of the
compressed bytes.
"""

from collections.abc import Iterable, Sequence

from barnabas.model.records import NO_EPOCH, NO_SEQUENCE, NO_TIMESTAMP, Codec, TimestampType
from barnabas.records._append_hot import RecordAppender
from barnabas.records.batch import (
    CONTROL_MASK,
    HEADER,
    HEADER_SIZE,
    LOG_OVERHEAD,
    MAGIC,
    TIMESTAMP_TYPE_MASK,
    TRANSACTIONAL_MASK,
    write_crc,
)
from barnabas.records.compression import compress
from barnabas.records.control import encode_end_marker

BytesLike = bytes | bytearray | memoryview
HeaderLike = tuple[str, BytesLike | None]
NewRecord = (
    tuple[BytesLike | None, BytesLike | None]
    | tuple[BytesLike | None, BytesLike | None, Sequence[HeaderLike]]
)

NO_PRODUCER_ID = -1
_LOG_APPEND_TIME = TimestampType.LOG_APPEND_TIME  # once: members are slow to look up


class BatchBuilder:
    """Collects records and builds one batch; not thread-safe.

    Producer fields and base offset may be set until `build`, because an idempotent producer assigns
    the sequence only when it drains the batch.
    """

    __slots__ = (
        "appender",
        "base_offset",
        "base_sequence",
        "codec",
        "control",
        "level",
        "partition_leader_epoch",
        "producer_epoch",
        "producer_id",
        "timestamp_type",
        "transactional",
    )

    def __init__(  # noqa: PLR0913 - the fields of a batch header, all with Kafka's defaults
        self,
        *,
        codec: Codec = Codec.NONE,
        level: int | None = None,
        timestamp_type: TimestampType = TimestampType.CREATE_TIME,
        producer_id: int = NO_PRODUCER_ID,
        producer_epoch: int = NO_EPOCH,
        base_sequence: int = NO_SEQUENCE,
        transactional: bool = False,
        control: bool = False,
        base_offset: int = 0,
        partition_leader_epoch: int = NO_EPOCH,
        appender: RecordAppender | None = None,
    ) -> None:
        self.appender = RecordAppender() if appender is None else appender
        self.codec = codec
        self.level = level
        self.timestamp_type = timestamp_type
        self.producer_id = producer_id
        self.producer_epoch = producer_epoch
        self.base_sequence = base_sequence
        self.transactional = transactional
        self.control = control
        self.base_offset = base_offset
        self.partition_leader_epoch = partition_leader_epoch

    def append(
        self,
        key: BytesLike | None,
        value: BytesLike | None,
        headers: Iterable[HeaderLike] = (),
        timestamp_ms: int = NO_TIMESTAMP,
    ) -> int:
        """Adds a record and returns its offset relative to the first record."""
        return self.appender.append(timestamp_ms, key, value, headers)

    @property
    def count(self) -> int:
        return self.appender.count

    @property
    def estimated_size(self) -> int:
        """Bytes of the batch before compression."""
        return self.appender.size

    def build(self) -> bytearray:
        """Returns the finished batch; the builder cannot be used again without a new appender."""
        batch = self.build_unsealed()
        write_crc(batch, 0, len(batch))
        return batch

    def build_unsealed(self) -> bytearray:
        """Returns the batch without its checksum, so that the caller can set header fields."""
        appender = self.appender
        count, first, last = appender.count, appender.base_timestamp, appender.max_timestamp
        batch = appender.take()
        if self.codec:
            with memoryview(batch) as view:
                packed = compress(self.codec, view[HEADER_SIZE:], self.level)
            batch = bytearray(HEADER_SIZE + len(packed))
            batch[HEADER_SIZE:] = packed
        HEADER.pack_into(
            batch,
            0,
            self.base_offset,
            len(batch) - LOG_OVERHEAD,
            self.partition_leader_epoch,
            MAGIC,
            0,
            self._attributes(),
            max(count - 1, 0),
            first,
            last,
            self.producer_id,
            self.producer_epoch,
            self.base_sequence,
            count,
        )
        return batch

    def _attributes(self) -> int:
        attributes = int(self.codec)
        if self.timestamp_type == _LOG_APPEND_TIME:
            attributes |= TIMESTAMP_TYPE_MASK
        if self.transactional:
            attributes |= TRANSACTIONAL_MASK
        if self.control:
            attributes |= CONTROL_MASK
        return attributes


def build_batch(  # noqa: PLR0913 - a BatchBuilder's options in one call
    records: Iterable[NewRecord],
    *,
    timestamp_ms: int = NO_TIMESTAMP,
    codec: Codec = Codec.NONE,
    level: int | None = None,
    timestamp_type: TimestampType = TimestampType.CREATE_TIME,
    producer_id: int = NO_PRODUCER_ID,
    producer_epoch: int = NO_EPOCH,
    base_sequence: int = NO_SEQUENCE,
    transactional: bool = False,
    control: bool = False,
    base_offset: int = 0,
    partition_leader_epoch: int = NO_EPOCH,
) -> bytearray:
    """Returns one batch of (key, value) or (key, value, headers) records, all with
    `timestamp_ms`.
    """
    builder = BatchBuilder(
        codec=codec,
        level=level,
        timestamp_type=timestamp_type,
        producer_id=producer_id,
        producer_epoch=producer_epoch,
        base_sequence=base_sequence,
        transactional=transactional,
        control=control,
        base_offset=base_offset,
        partition_leader_epoch=partition_leader_epoch,
    )
    for key, value, *rest in records:
        builder.append(key, value, rest[0] if rest else (), timestamp_ms)
    return builder.build()


def control_batch(
    commit: bool, coordinator_epoch: int, producer_id: int, producer_epoch: int, timestamp_ms: int
) -> bytearray:
    """Builds the batch that ends a transaction: one marker without a sequence number."""
    return build_batch(
        [encode_end_marker(commit, coordinator_epoch)],
        timestamp_ms=timestamp_ms,
        producer_id=producer_id,
        producer_epoch=producer_epoch,
        transactional=True,
        control=True,
    )
