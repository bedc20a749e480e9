"""What the logs of this broker know of a producer, in the words of the transaction rules."""

from barnabas.model.ids import TopicPartition
from barnabas.storage.log_manager import LogManager
from barnabas.storage.producer_state import NO_OFFSET, ProducerEntry
from barnabas.transactions.marker_rules import ProducerView


class Producers:
    """Looks into producer states; owned by the broker's loop."""

    def __init__(self, logs: LogManager) -> None:
        self._logs = logs

    def view(self, topic_partition: TopicPartition, producer_id: int) -> ProducerView | None:
        entry = self._entry(topic_partition, producer_id)
        if entry is None:
            return None
        is_open = entry.txn_first_offset != NO_OFFSET
        return ProducerView(entry.epoch, entry.coordinator_epoch, is_open)

    def transaction_open(
        self, topic_partition: TopicPartition, producer_id: int, epoch: int
    ) -> bool:
        """Whether a transaction of this very epoch has records there."""
        entry = self._entry(topic_partition, producer_id)
        return entry is not None and entry.txn_first_offset != NO_OFFSET and entry.epoch == epoch

    def epoch(self, topic_partition: TopicPartition, producer_id: int) -> int:
        """The newest epoch seen, -1 when the producer is not known."""
        entry = self._entry(topic_partition, producer_id)
        return -1 if entry is None else entry.epoch

    def raise_coordinator_epoch(
        self, topic_partition: TopicPartition, producer_id: int, epoch: int
    ) -> None:
        """Keep older coordinators fenced after a marker that was there already."""
        entry = self._entry(topic_partition, producer_id)
        if entry is not None:
            entry.coordinator_epoch = max(entry.coordinator_epoch, epoch)

    def _entry(self, topic_partition: TopicPartition, producer_id: int) -> ProducerEntry | None:
        log = self._logs.get(topic_partition)
        return None if log is None else log.producers.entries.get(producer_id)
