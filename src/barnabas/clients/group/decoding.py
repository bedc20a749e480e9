"""Applies the application's deserializers and interceptors to records."""

from functools import partial

from barnabas.clients.core.serialization import Deserializer
from barnabas.clients.group.partition_state import PartitionState
from barnabas.clients.group.settings import ConsumerSettings
from barnabas.clients.group.subscription import SubscriptionState
from barnabas.model.errors import BarnabasError
from barnabas.model.ids import TopicPartition
from barnabas.records.record import Record


class DeserializationError(BarnabasError):
    """A deserializer raised for a key or value; `seek()` past `offset` to continue."""

    def __init__(self, partition: TopicPartition, offset: int, cause: Exception) -> None:
        super().__init__(f"{partition} at offset {offset}: {cause!r}")
        self.partition = partition
        self.offset = offset


class Deserialization:
    """Returns the records unchanged if neither deserializers nor interceptors are set."""

    def __init__(self, settings: ConsumerSettings) -> None:
        self._key = settings.key_deserializer
        self._value = settings.value_deserializer
        self._interceptors = settings.interceptors

    def apply(
        self, taken: dict[TopicPartition, list[Record]], subscription: SubscriptionState
    ) -> dict[TopicPartition, list[Record]]:
        """Returns the deserialized records before the first failure; raises if it is the first."""
        if self._key is not None or self._value is not None:
            taken = self._deserialize(taken, subscription)
        for interceptor in self._interceptors:
            taken = interceptor.on_consume(taken) if taken else taken
        return taken

    def _deserialize(
        self, taken: dict[TopicPartition, list[Record]], subscription: SubscriptionState
    ) -> dict[TopicPartition, list[Record]]:
        done: dict[TopicPartition, list[Record]] = {}
        failure: DeserializationError | None = None
        for topic_partition, records in taken.items():
            good: list[Record] = []
            for record in records:
                try:
                    good.append(self._one(record))
                except Exception as error:  # noqa: BLE001 - a deserializer may raise anything
                    failure = DeserializationError(topic_partition, record.offset, error)
                    # The position stays at this record until the application seeks past it.
                    subscription.change([topic_partition], partial(_seek_to, record.offset))
                    break
            if good:
                done[topic_partition] = good
        if failure is not None and not done:
            raise failure
        return done

    def _one(self, record: Record) -> Record:
        return record.replace(_apply(self._key, record.key), _apply(self._value, record.value))


def _seek_to(offset: int, state: PartitionState) -> None:
    state.move_to(offset)


def _apply(deserializer: Deserializer | None, data: bytes | None) -> object:
    return data if deserializer is None or data is None else deserializer(data)
