"""Results of the simple consumers: fetched batches and offsets."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from barnabas.model.ids import TopicPartition
from barnabas.records.reader import FetchDecoder
from barnabas.records.record import Record

if TYPE_CHECKING:
    import pyarrow


@dataclass(frozen=True, slots=True)
class PartitionOffset:
    """An offset with the timestamp and leader epoch of its record, -1 if unknown."""

    offset: int
    timestamp: int = -1
    leader_epoch: int = -1


@dataclass(frozen=True, slots=True)
class FetchedBatches:
    """The batches of one partition from an offset on; they are decoded on request.

    The first batch may begin before the requested offset: `data` contains its earlier records,
    `records()` does not. `aborted` is None unless `isolation.level` is `read_committed`.

    >>> for record in consumer.fetch("orders", 0, 0).records():  # doctest: +SKIP
    ...     print(record.value)
    """

    partition: TopicPartition
    fetch_offset: int
    data: memoryview
    high_watermark: int
    last_stable_offset: int
    log_start_offset: int
    aborted: tuple[tuple[int, int], ...] | None
    max_decompressed: int

    def records(self) -> list[Record]:
        """Returns the records, without control records and records of aborted transactions.

        Raises:
            CorruptRecordError: a batch cannot be decoded.
        """
        return self.decode()[0]

    def decode(self) -> tuple[list[Record], int]:
        """Returns the records and the next offset to fetch (after gaps, markers, empty batches)."""
        decoder = self.decoder()
        return decoder.take(), decoder.next_offset

    def arrow(self) -> "pyarrow.RecordBatch":
        """Returns the records as one Arrow batch; needs the extra `arrow`."""
        from barnabas.records.arrow import take_arrow  # optional extra: pyarrow

        return take_arrow(self.decoder())

    def decoder(self) -> FetchDecoder:
        """Returns a decoder at the first requested record."""
        return FetchDecoder(
            self.data,
            self.partition.topic,
            self.partition.partition,
            fetch_offset=self.fetch_offset,
            aborted=self.aborted,
            max_decompressed=self.max_decompressed,
        )
