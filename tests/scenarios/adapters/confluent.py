"""confluent-kafka: librdkafka behind Python."""

import threading
import time
from collections.abc import Mapping
from functools import partial
from typing import Any

import confluent_kafka as ck
from confluent_kafka import admin as ck_admin
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

CALL_SECONDS = 60.0
SEEK_SECONDS = 30.0

_PRODUCER_NAMES = {
    "max.request.size": "message.max.bytes",
    "partitioner.class": "partitioner",
    "batch.size": "batch.size",
}
_PRODUCER_MISSING = {
    "buffer.memory": "librdkafka limits its queue by number of records and kilobytes",
    "max.block.ms": "librdkafka's produce() never blocks",
    "interceptor.classes": "no interceptors in Python",
    "partitioner.ignore.keys": "no such setting",
}
_PARTITIONERS = {"murmur2": "murmur2_random"}
_LOCAL_ERRORS = {
    "_MSG_TIMED_OUT": "TIMEOUT",
    "_TIMED_OUT": "TIMEOUT",
    "_TIMED_OUT_QUEUE": "TIMEOUT",
    "_UNKNOWN_TOPIC": "UNKNOWN_TOPIC_OR_PARTITION",
    "_UNKNOWN_PARTITION": "UNKNOWN_TOPIC_OR_PARTITION",
    "_AUTO_OFFSET_RESET": "NO_OFFSET",
    "_NO_OFFSET": "NO_OFFSET",
    "_STATE": "MISUSE",
    "_INVALID_ARG": "MISUSE",
    "_CONFLICT": "MISUSE",
    "_NOT_CONFIGURED": "MISUSE",
    "_FENCED": "PRODUCER_FENCED",
    "_MAX_POLL_EXCEEDED": "MAX_POLL_EXCEEDED",
    "_PURGE_QUEUE": "CLOSED",
}


class ConfluentClient(Client):
    name = "confluent-kafka"

    def producer(self, servers: str, config: Mapping[str, Any]) -> Producer:
        settings: dict[str, Any] = {"bootstrap.servers": servers, "partitioner": "murmur2_random"}
        for key, value in config.items():
            if key in _PRODUCER_MISSING:
                raise UnsupportedError(_PRODUCER_MISSING[key])
            settings[_PRODUCER_NAMES.get(key, key)] = value
        if settings["partitioner"] not in ("murmur2_random", "murmur2"):
            raise UnsupportedError("librdkafka has no such partitioner, and none in Python")
        return _Producer(ck.Producer(settings))

    def consumer(self, servers: str, config: Mapping[str, Any]) -> Consumer:
        settings = {"bootstrap.servers": servers, "group.id": "unused", **config}
        limit = settings.pop("max.poll.records", 500)
        if settings.get("auto.offset.reset") == "none":
            settings["auto.offset.reset"] = "error"
        settings["topic.metadata.refresh.interval.ms"] = settings.get("metadata.max.age.ms", 300000)
        poll_interval = settings.get("max.poll.interval.ms", 300000)
        if poll_interval < settings.get("session.timeout.ms", 45000):
            settings["session.timeout.ms"] = poll_interval
        return _Consumer(ck.Consumer(settings), limit)

    def admin(self, servers: str) -> Admin:
        return _Admin(ck_admin.AdminClient({"bootstrap.servers": servers}))

    def error_name(self, error: BaseException) -> str:
        if isinstance(error, ck.KafkaException):
            cause = error.args[0]
            return protocol_error(cause.code()) if cause.code() > 0 else _local(cause.name())
        if isinstance(error, TypeError | ValueError):
            return "MISUSE"
        return "CLOSED" if isinstance(error, RuntimeError) else type(error).__name__


def _local(name: str) -> str:
    return _LOCAL_ERRORS.get(name, name)


class _Producer(Producer):
    def __init__(self, inner: ck.Producer) -> None:
        self._inner = inner

    def send(self, topic, value=None, key=None, *, partition=None, headers=(), timestamp=None):
        outcome: list[Any] = []
        more: dict[str, Any] = {} if partition is None else {"partition": partition}
        if timestamp is not None:
            more["timestamp"] = timestamp
        self._inner.produce(
            topic, value, key, headers=list(headers), on_delivery=_keep(outcome), **more
        )
        self._inner.poll(0)
        return partial(self._delivered, outcome)

    def _delivered(self, outcome: list[Any], timeout: float) -> Sent:
        deadline = time.monotonic() + timeout
        while not outcome:
            if time.monotonic() > deadline:
                raise TimeoutError("no delivery report")
            self._inner.poll(0.05)
        error, message = outcome[0]
        if error is not None:
            raise ck.KafkaException(error)
        stamp = message.timestamp()[1]
        return Sent(message.topic(), message.partition(), message.offset(), stamp)

    def flush(self, timeout: float = 30.0) -> None:
        if self._inner.flush(timeout):
            raise TimeoutError("records without a delivery report")

    def close(self) -> None:
        self._inner.flush(5)
        self._inner.close()

    def partitions_for(self, topic: str) -> list[int]:
        found = self._inner.list_topics(topic, CALL_SECONDS).topics[topic]
        if found.error is not None:
            raise ck.KafkaException(found.error)
        return sorted(found.partitions)

    def init_transactions(self) -> None:
        self._inner.init_transactions(CALL_SECONDS)

    def begin(self) -> None:
        self._inner.begin_transaction()

    def commit(self) -> None:
        self._inner.commit_transaction(CALL_SECONDS)

    def abort(self) -> None:
        self._inner.abort_transaction(CALL_SECONDS)

    def send_offsets(self, offsets: Mapping[TopicPartition, int], consumer: Any) -> None:
        listed = [ck.TopicPartition(*place, at) for place, at in offsets.items()]
        metadata = consumer.inner.consumer_group_metadata()
        self._inner.send_offsets_to_transaction(listed, metadata, CALL_SECONDS)


def _keep(outcome: list[Any]) -> Any:
    return lambda error, message: outcome.append((error, message))


class _Consumer(Consumer):
    def __init__(self, inner: ck.Consumer, limit: int) -> None:
        self.inner = inner
        self._limit = limit

    def subscribe(self, topics: list[str], events: list[Any] | None = None) -> None:
        if events is None:
            self.inner.subscribe(topics)
            return
        self.inner.subscribe(
            topics,
            on_assign=lambda _, found: events.append(("assigned", _pairs(found))),
            on_revoke=lambda _, found: events.append(("revoked", _pairs(found))),
            on_lost=lambda _, found: events.append(("lost", _pairs(found))),
        )

    def subscribe_pattern(self, pattern: str) -> None:
        self.inner.subscribe([f"^{pattern}"])

    def unsubscribe(self) -> None:
        self.inner.unsubscribe()

    def assign(self, partitions: list[TopicPartition]) -> None:
        self.inner.assign([ck.TopicPartition(*place) for place in partitions])

    def assignment(self) -> list[TopicPartition]:
        return _pairs(self.inner.assignment())

    def poll(self, timeout: float, limit: int = 500) -> list[Rec]:
        found = self.inner.consume(min(limit, self._limit), timeout)
        failures = [m.error() for m in found if m.error() and not m.error().retriable()]
        records = [_plain(message) for message in found if message.error() is None]
        if failures and not records:
            raise ck.KafkaException(failures[0])
        return records

    def commit(self, offsets: Mapping[TopicPartition, int] | None = None) -> None:
        if offsets is None:
            self.inner.commit(asynchronous=False)
            return
        listed = [ck.TopicPartition(*place, at) for place, at in offsets.items()]
        for outcome in self.inner.commit(offsets=listed, asynchronous=False):
            if outcome.error is not None:
                raise ck.KafkaException(outcome.error)

    def committed(self, partition: TopicPartition) -> int | None:
        (found,) = self.inner.committed([ck.TopicPartition(*partition)], CALL_SECONDS)
        return found.offset if found.offset >= 0 else None

    def position(self, partition: TopicPartition) -> int:
        (found,) = self.inner.position([ck.TopicPartition(*partition)])
        if found.offset < 0:
            raise UnsupportedError("librdkafka knows a position only after the first record")
        return found.offset

    def seek(self, partition: TopicPartition, offset: int) -> None:
        """librdkafka refuses to seek until its fetcher has started."""
        deadline = time.monotonic() + SEEK_SECONDS
        while True:
            try:
                self.inner.seek(ck.TopicPartition(*partition, offset))
                return
            except ck.KafkaException as error:
                started = error.args[0].code() != ck.KafkaError._STATE
                if started or time.monotonic() > deadline:
                    raise
                threading.Event().wait(0.02)

    def seek_to_beginning(self, partition: TopicPartition) -> None:
        self.seek(partition, ck.OFFSET_BEGINNING)

    def seek_to_end(self, partition: TopicPartition) -> None:
        self.seek(partition, ck.OFFSET_END)

    def pause(self, partition: TopicPartition) -> None:
        self.inner.pause([ck.TopicPartition(*partition)])

    def resume(self, partition: TopicPartition) -> None:
        self.inner.resume([ck.TopicPartition(*partition)])

    def beginning_offset(self, partition: TopicPartition) -> int:
        return self.inner.get_watermark_offsets(ck.TopicPartition(*partition), CALL_SECONDS)[0]

    def end_offset(self, partition: TopicPartition) -> int:
        return self.inner.get_watermark_offsets(ck.TopicPartition(*partition), CALL_SECONDS)[1]

    def offset_for_time(self, partition: TopicPartition, timestamp: int) -> int | None:
        asked = [ck.TopicPartition(*partition, timestamp)]
        (found,) = self.inner.offsets_for_times(asked, CALL_SECONDS)
        return found.offset if found.offset >= 0 else None

    def close(self) -> None:
        self.inner.close()


def _pairs(partitions: Any) -> list[TopicPartition]:
    return sorted((item.topic, item.partition) for item in partitions)


def _plain(message: Any) -> Rec:
    place = (message.topic(), message.partition(), message.offset())
    headers = tuple(message.headers() or ())
    return Rec(*place, message.key(), message.value(), headers, message.timestamp()[1])


def _one(futures: Mapping[Any, Any]) -> Any:
    (future,) = futures.values()
    return future.result(CALL_SECONDS)


class _Admin(Admin):
    def __init__(self, inner: ck_admin.AdminClient) -> None:
        self._inner = inner

    def create_topic(self, name, partitions=1, configs=None):
        made = ck_admin.NewTopic(name, partitions, config=dict(configs or {}))
        _one(self._inner.create_topics([made]))

    def delete_topic(self, name: str) -> None:
        _one(self._inner.delete_topics([name]))

    def create_partitions(self, name: str, total: int) -> None:
        _one(self._inner.create_partitions([ck_admin.NewPartitions(name, total)]))

    def topics(self) -> set[str]:
        return set(self._inner.list_topics(timeout=CALL_SECONDS).topics)

    def partitions(self, topic: str) -> list[int]:
        found = _one(self._inner.describe_topics(ck.TopicCollection([topic])))
        return sorted(item.id for item in found.partitions)

    def topic_config(self, topic: str, name: str) -> str | None:
        resource = ck_admin.ConfigResource(ck_admin.RESOURCE_TOPIC, topic)
        return _one(self._inner.describe_configs([resource]))[name].value

    def alter_topic_config(self, topic: str, name: str, value: str) -> None:
        operation = ck_admin.AlterConfigOpType.SET
        entry = ck_admin.ConfigEntry(name, value, incremental_operation=operation)
        resource = ck_admin.ConfigResource(
            ck_admin.RESOURCE_TOPIC, topic, incremental_configs=[entry]
        )
        _one(self._inner.incremental_alter_configs([resource]))

    def delete_records(self, partition: TopicPartition, before: int) -> int:
        return _one(
            self._inner.delete_records([ck.TopicPartition(*partition, before)])
        ).low_watermark

    def groups(self) -> set[str]:
        found = self._inner.list_consumer_groups().result(CALL_SECONDS)
        return {item.group_id for item in found.valid}

    def group(self, group: str) -> tuple[str, int]:
        found = _one(self._inner.describe_consumer_groups([group]))
        state = "".join(word.capitalize() for word in found.state.name.split("_"))
        return state, len(found.members)

    def group_offsets(self, group: str) -> dict[TopicPartition, int]:
        asked = [ck.ConsumerGroupTopicPartitions(group)]
        found = _one(self._inner.list_consumer_group_offsets(asked)).topic_partitions
        return {(item.topic, item.partition): item.offset for item in found}

    def alter_group_offsets(self, group: str, offsets: Mapping[TopicPartition, int]) -> None:
        listed = [ck.TopicPartition(*place, at) for place, at in offsets.items()]
        asked = [ck.ConsumerGroupTopicPartitions(group, listed)]
        for outcome in _one(self._inner.alter_consumer_group_offsets(asked)).topic_partitions:
            if outcome.error is not None:
                raise ck.KafkaException(outcome.error)

    def delete_group(self, group: str) -> None:
        _one(self._inner.delete_consumer_groups([group]))

    def brokers(self) -> int:
        return len(self._inner.list_topics(timeout=CALL_SECONDS).brokers)

    def close(self) -> None:
        """librdkafka's admin client ends with its object."""
