"""aiokafka: asyncio clients in Python."""

import asyncio
from collections.abc import Mapping
from functools import partial
from typing import Any

import aiokafka
from aiokafka import errors
from aiokafka.admin import AIOKafkaAdminClient, NewPartitions, NewTopic
from aiokafka.admin.config_resource import ConfigResource, ConfigResourceType
from aiokafka.admin.records_to_delete import RecordsToDelete
from aiokafka.structs import OffsetAndMetadata
from aiokafka.structs import TopicPartition as Place
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
from scenarios.adapters.kafka_python import plain
from scenarios.adapters.loop_thread import Blocking, Loop

POLL_SECONDS = 5.0  # how much longer than its time-out a poll may take
_NAMES = {"batch.size": "max_batch_size"}
_MISSING = {
    "buffer.memory": "no limit on the producer's memory",
    "max.block.ms": "no setting for the time that send() may block",
    "delivery.timeout.ms": "request_timeout_ms takes the place of delivery.timeout.ms",
    "max.in.flight.requests.per.connection": "one request at a time, no setting",
    "retries": "retries until the request's time-out, no setting",
    "interceptor.classes": "no interceptors",
    "allow.auto.create.topics": "no setting against automatic creation",
    "group.protocol": "no consumer protocol of KIP-848",
    "partitioner.ignore.keys": "no such setting",
    "partition.assignment.strategy": "assignors are given as classes",
}
_LOCAL_ERRORS = (
    ((errors.KafkaTimeoutError, TimeoutError), "TIMEOUT"),
    (errors.CommitFailedError, "COMMIT_FAILED"),
    (errors.NoOffsetForPartitionError, "NO_OFFSET"),
    (errors.OffsetOutOfRangeError, "OFFSET_OUT_OF_RANGE"),
    ((errors.ProducerClosed, errors.ConsumerStoppedError), "CLOSED"),
    (errors.ProducerFenced, "PRODUCER_FENCED"),
    (errors.IllegalStateError, "MISUSE"),
    (errors.IllegalOperation, "MISUSE"),
    (errors.MessageSizeTooLargeError, "MESSAGE_TOO_LARGE"),
    ((errors.KafkaConfigurationError), "CONFIG"),
    ((TypeError, ValueError, AssertionError), "MISUSE"),
)


class AiokafkaClient(Client):
    name = "aiokafka"

    def __init__(self) -> None:
        self._loop = Loop("scenarios-aiokafka")

    def producer(self, servers: str, config: Mapping[str, Any]) -> Producer:
        settings = _settings(config)
        chosen = settings.pop("partitioner_class", None)
        if chosen not in (None, "murmur2"):
            raise UnsupportedError("no round-robin partitioner by name")
        settings.setdefault("enable_idempotence", "acks" not in settings)
        if settings.get("acks") in ("0", "1"):
            settings["acks"] = int(settings["acks"])
        return _Producer(self._loop, {"bootstrap_servers": servers, **settings})

    def consumer(self, servers: str, config: Mapping[str, Any]) -> Consumer:
        return _Consumer(self._loop, {"bootstrap_servers": servers, **_settings(config)})

    def admin(self, servers: str) -> Admin:
        return _Admin(self._loop, servers)

    def error_name(self, error: BaseException) -> str:
        for kind, name in _LOCAL_ERRORS:
            if isinstance(error, kind):
                return name
        code = getattr(error, "errno", None)
        return protocol_error(code) if isinstance(code, int) else type(error).__name__

    def close(self) -> None:
        self._loop.close()


def _settings(config: Mapping[str, Any]) -> dict[str, Any]:
    for key in config:
        if key in _MISSING:
            raise UnsupportedError(_MISSING[key])
    return {_NAMES.get(key, key.replace(".", "_")): value for key, value in config.items()}


async def _started(kind: Any, settings: Mapping[str, Any]) -> Any:
    made = kind(**settings)
    try:
        await made.start()
    except BaseException:
        await (made.close() if hasattr(made, "close") else made.stop())
        raise
    return made


class _Producer(Producer):
    def __init__(self, loop: Loop, settings: Mapping[str, Any]) -> None:
        self._loop = loop
        self._inner = Blocking(loop.run(_started(aiokafka.AIOKafkaProducer, settings)), loop)

    def send(self, topic, value=None, key=None, *, partition=None, headers=(), timestamp=None):
        delivery = self._inner.send(topic, value, key, partition, timestamp, list(headers))
        return partial(self._delivered, delivery)

    def _delivered(self, delivery: Any, timeout: float) -> Sent:
        async def wait() -> Any:
            return await asyncio.wait_for(delivery, timeout)

        found = self._loop.run(wait())
        if found is None:  # acks=0
            return Sent("", -1, -1)
        return Sent(found.topic, found.partition, found.offset, found.timestamp)

    def flush(self, timeout: float = 30.0) -> None:
        self._inner.flush()

    def close(self) -> None:
        self._inner.stop()

    def partitions_for(self, topic: str) -> list[int]:
        return sorted(self._inner.partitions_for(topic) or ())

    def init_transactions(self) -> None:
        """aiokafka does it in start()."""

    def begin(self) -> None:
        self._inner.begin_transaction()

    def commit(self) -> None:
        self._inner.commit_transaction()

    def abort(self) -> None:
        self._inner.abort_transaction()

    def send_offsets(self, offsets: Mapping[TopicPartition, int], consumer: Any) -> None:
        self._inner.send_offsets_to_transaction(_offsets(offsets), consumer.group)


def _offsets(offsets: Mapping[TopicPartition, int]) -> dict[Place, OffsetAndMetadata]:
    return {Place(*place): OffsetAndMetadata(at, "") for place, at in offsets.items()}


class _Listener(aiokafka.ConsumerRebalanceListener):
    def __init__(self, events: list[Any]) -> None:
        self._events = events

    def on_partitions_assigned(self, assigned: Any) -> None:
        self._events.append(("assigned", _pairs(assigned)))

    def on_partitions_revoked(self, revoked: Any) -> None:
        self._events.append(("revoked", _pairs(revoked)))


class _Consumer(Consumer):
    def __init__(self, loop: Loop, settings: Mapping[str, Any]) -> None:
        self.group = settings.get("group_id")
        self._limit = settings.get("max_poll_records") or 500
        self._loop = loop
        self._consumer = loop.run(_started(aiokafka.AIOKafkaConsumer, settings))
        self.inner = Blocking(self._consumer, loop)

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
        most = min(limit, self._limit)
        work = self._consumer.getmany(timeout_ms=int(timeout * 1000), max_records=most)
        found = self._loop.run(work, timeout + POLL_SECONDS)
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
        self.inner.stop()


def _pairs(partitions: Any) -> list[TopicPartition]:
    return sorted((item.topic, item.partition) for item in partitions or ())


def _raise_code(code: int, text: str | None = None) -> None:
    if code:
        raise errors.for_code(code)(text or "")


class _Admin(Admin):
    def __init__(self, loop: Loop, servers: str) -> None:
        self._loop = loop
        settings = {"bootstrap_servers": servers}
        self._inner = Blocking(loop.run(_started(AIOKafkaAdminClient, settings)), loop)

    def create_topic(self, name, partitions=1, configs=None):
        made = NewTopic(name, partitions, 1, topic_configs=dict(configs or {}))
        response = self._inner.create_topics([made])
        for item in response.topic_errors:
            _raise_code(item[1], item[-1] if isinstance(item[-1], str) else None)

    def delete_topic(self, name: str) -> None:
        response = self._inner.delete_topics([name])
        for item in response.topic_error_codes:
            _raise_code(item[1])

    def create_partitions(self, name: str, total: int) -> None:
        response = self._inner.create_partitions({name: NewPartitions(total)})
        for item in response.topic_errors:
            _raise_code(item[1])

    def topics(self) -> set[str]:
        return set(self._inner.list_topics())

    def partitions(self, topic: str) -> list[int]:
        (found,) = self._inner.describe_topics([topic])
        _raise_code(found["error_code"])
        return sorted(item["partition"] for item in found["partitions"])

    def topic_config(self, topic: str, name: str) -> str | None:
        resource = ConfigResource(ConfigResourceType.TOPIC, topic)
        for response in self._inner.describe_configs([resource]):
            for resource_item in response.resources:
                _raise_code(resource_item[0])
                return {entry[0]: entry[1] for entry in resource_item[4]}[name]
        return None

    def alter_topic_config(self, topic: str, name: str, value: str) -> None:
        resource = ConfigResource(ConfigResourceType.TOPIC, topic, {name: value})
        for response in self._inner.alter_configs([resource]):
            for item in response.resources:
                _raise_code(item[0])

    def delete_records(self, partition: TopicPartition, before: int) -> int:
        found = self._inner.delete_records({Place(*partition): RecordsToDelete(before)})
        return found[Place(*partition)]

    def groups(self) -> set[str]:
        return {item[0] for item in self._inner.list_consumer_groups()}

    def group(self, group: str) -> tuple[str, int]:
        (response,) = self._inner.describe_consumer_groups([group])
        item = response.groups[0]
        _raise_code(item[0])
        return item[2], len(item[5])

    def group_offsets(self, group: str) -> dict[TopicPartition, int]:
        found = self._inner.list_consumer_group_offsets(group)
        return {(place.topic, place.partition): at.offset for place, at in found.items()}

    def alter_group_offsets(self, group: str, offsets: Mapping[TopicPartition, int]) -> None:
        raise UnsupportedError("no call that changes a group's offsets")

    def delete_group(self, group: str) -> None:
        raise UnsupportedError("no call that deletes a group")

    def brokers(self) -> int:
        return len(self._inner.describe_cluster()["brokers"])

    def close(self) -> None:
        self._inner.close()
