"""Applies the application's deserializers and interceptors to records."""

from collections.abc import Callable
from functools import partial

from barnabas.clients.core.serialization import Conversion, Function
from barnabas.clients.group.settings import ConsumerSettings
from barnabas.clients.group.subscription import AssignedPartition, SubscriptionState
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
    """Deserializes and intercepts records; returns them unchanged if neither is configured."""

    def __init__(self, settings: ConsumerSettings, on_failure: Callable[[], None]) -> None:
        """Creates the conversions; `on_failure` is called before DeserializationError is raised."""
        self._on_failure = on_failure
        self._key = settings.key_deserializer
        self._value = settings.value_deserializer
        self._interceptors = settings.interceptors
        self._by_topic: dict[str, tuple[Function | None, Function | None]] = {}

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
            key, value = self._functions(topic_partition.topic)
            good: list[Record] = []
            for record in records:
                try:
                    good.append(
                        record.replace(_apply(key, record.key), _apply(value, record.value))
                    )
                except Exception as error:  # noqa: BLE001 - a deserializer may raise anything
                    failure = DeserializationError(topic_partition, record.offset, error)
                    # The position stays at this record until the application seeks past it.
                    subscription.change([topic_partition], partial(_seek_to, record.offset))
                    break
            if good:
                done[topic_partition] = good
        if failure is not None and not done:
            self._on_failure()
            raise failure
        return done

    def convert_one(self) -> Callable[[Record], Record | None] | None:
        """Returns the conversion of a single record, None if there is nothing to convert."""
        if self._interceptors:
            return self._convert_and_intercept
        return None if self._key is None and self._value is None else self._convert

    def _convert(self, record: Record) -> Record:
        functions = self._by_topic.get(record.topic)
        if functions is None:
            functions = self._by_topic[record.topic] = self._functions(record.topic)
        key, value = functions
        try:
            return record.replace(_apply(key, record.key), _apply(value, record.value))
        except Exception as error:
            self._on_failure()
            topic_partition = TopicPartition(record.topic, record.partition)
            raise DeserializationError(topic_partition, record.offset, error) from error

    def _convert_and_intercept(self, record: Record) -> Record | None:
        """Returns None if an interceptor removes the record."""
        taken = {TopicPartition(record.topic, record.partition): [self._convert(record)]}
        for interceptor in self._interceptors:
            taken = interceptor.on_consume(taken) if taken else taken
        return next((found for records in taken.values() for found in records), None)

    def close(self) -> None:
        """Closes the deserializers."""
        for conversion in (self._key, self._value):
            if conversion is not None:
                conversion.close()

    def _functions(self, topic: str) -> tuple[Function | None, Function | None]:
        return _function(self._key, topic), _function(self._value, topic)


def _seek_to(offset: int, state: AssignedPartition) -> None:
    state.move_to(offset)


def _function(conversion: Conversion | None, topic: str) -> Function | None:
    return None if conversion is None else conversion.for_topic(topic)


def _apply(function: Function | None, data: bytes | None) -> object:
    return data if function is None or data is None else function(data)
