"""kafka-python: blocking clients in Python."""

import re
from collections.abc import Mapping
from functools import partial
from typing import Any

import kafka
from kafka import errors
from kafka.admin import (
    ConfigResource,
    ConfigResourceType,
    KafkaAdminClient,
    NewPartitions,
    NewTopic,
)
from kafka.structs import OffsetAndMetadata
from kafka.structs import TopicPartition as Place
from scenarios.adapter import (
    Admin,
    Client,
    Consumer,
    Producer,
    Rec,
    Sent,
    TopicPartition,
    UnsupportedError,
    protocol_error,
)
from support.clients.kafka_python_sockets import close_failed_sockets

close_failed_sockets()
_MISSING = {
    "buffer.memory": "no limit on the producer's memory",
    "interceptor.classes": "no interceptors",
    "group.protocol": "no consumer protocol of KIP-848",
    "partitioner.ignore.keys": "no such setting",
}
_LOCAL_ERRORS = (
    (errors.KafkaTimeoutError, "TIMEOUT"),
    (errors.CommitFailedError, "COMMIT_FAILED"),
    (errors.NoOffsetForPartitionError, "NO_OFFSET"),
    (errors.KafkaConfigurationError, "CONFIG"),
    (errors.IllegalStateError, "MISUSE"),
    ((errors.IllegalArgumentError, TypeError, ValueError, AssertionError), "MISUSE"),
)


class KafkaPythonClient(Client):
    name = "kafka-python"

    def producer(self, servers: str, config: Mapping[str, Any]) -> Producer:
        settings = _settings(config)
        if isinstance(settings.get("acks"), str):
            settings["acks"] = -1 if settings["acks"] == "all" else int(settings["acks"])
        chosen = settings.pop("partitioner_class", None)
        if chosen not in (None, "murmur2"):
            raise UnsupportedError("no round-robin partitioner by name")
        return _Producer(kafka.KafkaProducer(bootstrap_servers=servers.split(","), **settings))

    def consumer(self, servers: str, config: Mapping[str, Any]) -> Consumer:
        settings = _settings(config)
        strategy = settings.pop("partition_assignment_strategy", None)
        if strategy is not None:
            raise UnsupportedError("assignors are given as classes")
        return _Consumer(kafka.KafkaConsumer(bootstrap_servers=servers.split(","), **settings))

    def admin(self, servers: str) -> Admin:
        return _Admin(KafkaAdminClient(bootstrap_servers=servers.split(",")))

    def error_name(self, error: BaseException) -> str:
        for kind, name in _LOCAL_ERRORS:
            if isinstance(error, kind):
                return name
        code = getattr(error, "errno", None)
        return protocol_error(code) if isinstance(code, int) else type(error).__name__


def _settings(config: Mapping[str, Any]) -> dict[str, Any]:
    for key in config:
        if key in _MISSING:
            raise UnsupportedError(_MISSING[key])
    return {key.replace(".", "_"): value for key, value in config.items()}


class _Producer(Producer):
    def __init__(self, inner: kafka.KafkaProducer) -> None:
        self._inner = inner

    def send(self, topic, value=None, key=None, *, partition=None, headers=(), timestamp=None):
        if any(value is None for _, value in headers):
            raise UnsupportedError("header values must be bytes")
        return partial(
            _delivered,
            self._inner.send(
                topic,
                value,
                key,
                headers=list(headers),
                partition=partition,
                timestamp_ms=timestamp,
            ),
        )

    def flush(self, timeout: float = 30.0) -> None:
        self._inner.flush(timeout)

    def close(self) -> None:
        self._inner.close(timeout=10)

    def partitions_for(self, topic: str) -> list[int]:
        return sorted(self._inner.partitions_for(topic) or ())

    def init_transactions(self) -> None:
        self._inner.init_transactions()

    def begin(self) -> None:
        self._inner.begin_transaction()

    def commit(self) -> None:
        self._inner.commit_transaction()

    def abort(self) -> None:
        self._inner.abort_transaction()

    def send_offsets(self, offsets: Mapping[TopicPartition, int], consumer: Any) -> None:
        metadata = consumer.inner.group_metadata()
        self._inner.send_offsets_to_transaction(_offsets(offsets), metadata)


def _delivered(future: Any, timeout: float) -> Sent:
    found = future.get(timeout)
    return Sent(found.topic, found.partition, found.offset, found.timestamp)


def _offsets(offsets: Mapping[TopicPartition, int]) -> dict[Place, OffsetAndMetadata]:
    return {Place(*place): OffsetAndMetadata(at, "", -1) for place, at in offsets.items()}


class _Listener(kafka.ConsumerRebalanceListener):
    def __init__(self, events: list[Any]) -> None:
        self._events = events

    def on_partitions_assigned(self, assigned: Any) -> None:
        self._events.append(("assigned", _pairs(assigned)))

    def on_partitions_revoked(self, revoked: Any) -> None:
        self._events.append(("revoked", _pairs(revoked)))

    def on_partitions_lost(self, lost: Any) -> None:
        self._events.append(("lost", _pairs(lost)))


class _Consumer(Consumer):
    def __init__(self, inner: kafka.KafkaConsumer) -> None:
        self.inner = inner

    def subscribe(self, topics: list[str], events: list[Any] | None = None) -> None:
        self.inner.subscribe(topics, listener=None if events is None else _Listener(events))

    def subscribe_pattern(self, pattern: str) -> None:
        self.inner.subscribe(pattern=pattern)

    def unsubscribe(self) -> None:
        self.inner.unsubscribe()

    def assign(self, partitions: list[TopicPartition]) -> None:
        self.inner.assign([Place(*place) for place in partitions])

    def assignment(self) -> list[TopicPartition]:
        return _pairs(self.inner.assignment())

    def poll(self, timeout: float, limit: int = 500) -> list[Rec]:
        most = min(limit, self.inner.config["max_poll_records"])
        found = self.inner.poll(timeout_ms=int(timeout * 1000), max_records=most)
        return [plain(record) for records in found.values() for record in records]

    def commit(self, offsets: Mapping[TopicPartition, int] | None = None) -> None:
        self.inner.commit(None if offsets is None else _offsets(offsets))

    def committed(self, partition: TopicPartition) -> int | None:
        return self.inner.committed(Place(*partition))

    def position(self, partition: TopicPartition) -> int:
        return self.inner.position(Place(*partition))

    def seek(self, partition: TopicPartition, offset: int) -> None:
        self.inner.seek(Place(*partition), offset)

    def seek_to_beginning(self, partition: TopicPartition) -> None:
        self.inner.seek_to_beginning(Place(*partition))

    def seek_to_end(self, partition: TopicPartition) -> None:
        self.inner.seek_to_end(Place(*partition))

    def pause(self, partition: TopicPartition) -> None:
        self.inner.pause(Place(*partition))

    def resume(self, partition: TopicPartition) -> None:
        self.inner.resume(Place(*partition))

    def beginning_offset(self, partition: TopicPartition) -> int:
        return self.inner.beginning_offsets([Place(*partition)])[Place(*partition)]

    def end_offset(self, partition: TopicPartition) -> int:
        return self.inner.end_offsets([Place(*partition)])[Place(*partition)]

    def offset_for_time(self, partition: TopicPartition, timestamp: int) -> int | None:
        found = self.inner.offsets_for_times({Place(*partition): timestamp})[Place(*partition)]
        return None if found is None else found.offset

    def close(self) -> None:
        self.inner.close()


def _pairs(partitions: Any) -> list[TopicPartition]:
    return sorted((item.topic, item.partition) for item in partitions or ())


def plain(record: Any) -> Rec:
    """Of kafka-python's and aiokafka's records, which have the same fields."""
    place = (record.topic, record.partition, record.offset)
    return Rec(*place, record.key, record.value, tuple(record.headers), record.timestamp)


class _Admin(Admin):
    def __init__(self, inner: KafkaAdminClient) -> None:
        self._inner = inner

    def create_topic(self, name, partitions=1, configs=None):
        made = NewTopic(name, partitions, -1, topic_configs=dict(configs or {}))
        self._inner.create_topics([made])

    def delete_topic(self, name: str) -> None:
        self._inner.delete_topics([name])

    def create_partitions(self, name: str, total: int) -> None:
        self._inner.create_partitions({name: NewPartitions(total)})

    def topics(self) -> set[str]:
        return set(self._inner.list_topics())

    def partitions(self, topic: str) -> list[int]:
        (found,) = self._inner.describe_topics([topic])
        if found.get("error_code"):
            raise errors.for_code(found["error_code"])
        return sorted(
            item.get("partition_index", item.get("partition")) for item in found["partitions"]
        )

    def topic_config(self, topic: str, name: str) -> str | None:
        resource = ConfigResource(ConfigResourceType.TOPIC, topic)
        found = self._inner.describe_configs([resource], config_filter="all")
        return found["topic"][topic][name]["value"]

    def alter_topic_config(self, topic: str, name: str, value: str) -> None:
        resource = ConfigResource(ConfigResourceType.TOPIC, topic, {name: value})
        outcome = self._inner.alter_configs([resource])["topic"][topic]
        number = re.match(r"\[Error (\d+)\]", str(outcome))
        if number is not None:
            raise errors.for_code(int(number[1]))(outcome)

    def delete_records(self, partition: TopicPartition, before: int) -> int:
        found = self._inner.delete_records({Place(*partition): before})[Place(*partition)]
        return found["low_watermark"]

    def groups(self) -> set[str]:
        return {item["group_id"] for item in self._inner.list_groups()}

    def group(self, group: str) -> tuple[str, int]:
        found = self._inner.describe_groups([group])[group]
        return found.get("group_state", found.get("state")), len(found["members"])

    def group_offsets(self, group: str) -> dict[TopicPartition, int]:
        found = self._inner.list_group_offsets({group: None})[group]
        return {(place.topic, place.partition): at.offset for place, at in found.items()}

    def alter_group_offsets(self, group: str, offsets: Mapping[TopicPartition, int]) -> None:
        for kind in self._inner.alter_group_offsets(group, _offsets(offsets)).values():
            if kind is not errors.NoError:
                raise kind

    def delete_group(self, group: str) -> None:
        outcome = self._inner.delete_groups([group])[group]
        if outcome not in (None, "OK", "NoError"):
            raise getattr(errors, outcome)

    def brokers(self) -> int:
        return len(self._inner.describe_cluster()["brokers"])

    def close(self) -> None:
        self._inner.close()
