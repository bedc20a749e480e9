"""What the simple consumers return: batches, undecoded until asked for; offsets; partitions."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from barnabas.clients.core.cluster_metadata import ClusterMetadata, Node
from barnabas.model.ids import TopicPartition
from barnabas.records.reader import FetchDecoder
from barnabas.records.record import Record

if TYPE_CHECKING:
    import pyarrow


@dataclass(frozen=True, slots=True)
class PartitionOffset:
    """An offset with the timestamp and leader epoch of the record there, -1 when unknown."""

    offset: int
    timestamp: int = -1
    leader_epoch: int = -1


@dataclass(frozen=True, slots=True)
class PartitionMetadata:
    """A partition with the brokers that hold it.

    A replica on a broker that is not alive has the host "" and the port -1.
    """

    topic: str
    partition: int
    leader: Node
    leader_epoch: int
    replicas: tuple[Node, ...]
    isr: tuple[Node, ...]

    @classmethod
    def of(cls, metadata: ClusterMetadata, topic_partition: TopicPartition) -> "PartitionMetadata":
        """From metadata that names a leader of the partition."""
        found = metadata.leader_of(topic_partition)
        assert found is not None
        info = metadata.topics[topic_partition.topic].partitions[topic_partition.partition]

        def nodes(ids: tuple[int, ...]) -> tuple[Node, ...]:
            return tuple(metadata.brokers.get(number) or Node(number, "", -1) for number in ids)

        return cls(*topic_partition, *found, nodes(info.replicas), nodes(info.isr))


@dataclass(frozen=True, slots=True)
class FetchedBatches:
    """The batches of one partition from an offset on.

    The first batch may begin before the offset that was asked for: `records()` leaves out what is
    below it, `data` does not. `aborted` is None unless reading committed records only.
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
        """The records, without control records and aborted transactions."""
        return self.decode()[0]

    def decode(self) -> tuple[list[Record], int]:
        """The records, and the offset to fetch next (past gaps, markers and empty batches)."""
        decoder = self.decoder()
        return decoder.take(), decoder.next_offset

    def arrow(self) -> "pyarrow.RecordBatch":
        """The records as one Arrow batch."""
        from barnabas.records.arrow import take_arrow

        return take_arrow(self.decoder())

    def decoder(self) -> FetchDecoder:
        """A decoder at the first record that was asked for."""
        return FetchDecoder(
            self.data,
            self.partition.topic,
            self.partition.partition,
            fetch_offset=self.fetch_offset,
            aborted=self.aborted,
            max_decompressed=self.max_decompressed,
        )
