"""Our blocking clients and our tools."""

import re
import subprocess
import sys
from collections.abc import Mapping
from functools import partial
from typing import Any

from scenarios.adapter import (
    Admin,
    Client,
    Consumer,
    Producer,
    Rec,
    Sent,
    ToolResult,
    TopicPartition,
    protocol_error,
)

import barnabas
from barnabas.admin.config_types import ConfigResource
from barnabas.admin.topic_types import NewPartitions
from barnabas.clients.group.errors import CommitFailedError, NoOffsetError, OffsetOutOfRangeError
from barnabas.model.errors import BrokerError, ClosedError, ConfigError, DeadlineError, LocalError
from barnabas.model.ids import TopicPartition as Place

TOOL_SECONDS = 60.0


class BarnabasClient(Client):
    name = "barnabas"

    def producer(self, servers: str, config: Mapping[str, Any]) -> Producer:
        return _Producer(barnabas.Producer({"bootstrap.servers": servers, **config}))

    def consumer(self, servers: str, config: Mapping[str, Any]) -> Consumer:
        return _Consumer(barnabas.Consumer({"bootstrap.servers": servers, **config}))

    def admin(self, servers: str) -> Admin:
        return AdminOfBarnabas(barnabas.Admin({"bootstrap.servers": servers}))

    def error_name(self, error: BaseException) -> str:
        return error_name(error)

    def tool(self, servers: str, name: str, *args: str, text: str = "") -> ToolResult:
        place = ["--bootstrap-server", servers] if servers else []
        command = [sys.executable, "-m", "barnabas.cli.main", name, *place]
        done = subprocess.run(
            [*command, *args], input=text, capture_output=True, text=True, timeout=TOOL_SECONDS
        )
        return ToolResult(done.returncode, done.stdout, done.stderr)


_LOCAL_ERRORS = (
    (NoOffsetError, "NO_OFFSET"),
    (OffsetOutOfRangeError, "OFFSET_OUT_OF_RANGE"),
    (CommitFailedError, "COMMIT_FAILED"),
    (DeadlineError, "TIMEOUT"),
    (ClosedError, "CLOSED"),
    (ConfigError, "CONFIG"),
    (LocalError, "MISUSE"),
    ((TypeError, ValueError), "MISUSE"),
)


def error_name(error: BaseException) -> str:
    if isinstance(error, BrokerError):
        return protocol_error(error.code)
    for kind, name in _LOCAL_ERRORS:
        if isinstance(error, kind):
            return name
    return type(error).__name__


class _Producer(Producer):
    def __init__(self, inner: barnabas.Producer) -> None:
        self._inner = inner

    def send(self, topic, value=None, key=None, *, partition=None, headers=(), timestamp=None):
        future = self._inner.send(topic, value, key, list(headers), partition, timestamp)
        return partial(_delivered, future)

    def flush(self, timeout: float = 30.0) -> None:
        self._inner.flush(timeout)

    def close(self) -> None:
        self._inner.close()

    def partitions_for(self, topic: str) -> list[int]:
        return numbers(self._inner.partitions_for(topic))

    def init_transactions(self) -> None:
        self._inner.init_transactions()

    def begin(self) -> None:
        self._inner.begin_transaction()

    def commit(self) -> None:
        self._inner.commit_transaction()

    def abort(self) -> None:
        self._inner.abort_transaction()

    def send_offsets(self, offsets: Mapping[TopicPartition, int], consumer: Any) -> None:
        self._inner.send_offsets_to_transaction(places(offsets), consumer.inner.group_metadata())


def _delivered(future: Any, timeout: float) -> Sent:
    return sent(future.result(timeout))


def sent(metadata: Any) -> Sent:
    return Sent(metadata.topic, metadata.partition, metadata.offset, metadata.timestamp)


def numbers(partitions: Any) -> list[int]:
    """Partition numbers, of numbers or of descriptions of partitions."""
    return sorted(getattr(item, "partition", item) for item in partitions)


def places(offsets: Mapping[TopicPartition, int]) -> dict[Place, int]:
    return {Place(*pair): offset for pair, offset in offsets.items()}


def plain(record: Any) -> Rec:
    headers = tuple(record.headers or ())
    place = (record.topic, record.partition, record.offset)
    return Rec(*place, record.key, record.value, headers, record.timestamp)


class Listener:
    """Appends rebalances to a list, as pairs of a word and sorted partitions."""

    def __init__(self, events: list[Any]) -> None:
        self._events = events

    def on_partitions_assigned(self, partitions: Any) -> None:
        self._events.append(("assigned", sorted(tuple(place) for place in partitions)))

    def on_partitions_revoked(self, partitions: Any) -> None:
        self._events.append(("revoked", sorted(tuple(place) for place in partitions)))

    def on_partitions_lost(self, partitions: Any) -> None:
        self._events.append(("lost", sorted(tuple(place) for place in partitions)))


class _Consumer(Consumer):
    def __init__(self, inner: barnabas.Consumer) -> None:
        self.inner = inner

    def subscribe(self, topics: list[str], events: list[Any] | None = None) -> None:
        self.inner.subscribe(topics, None if events is None else Listener(events))

    def subscribe_pattern(self, pattern: str) -> None:
        self.inner.subscribe(re.compile(pattern))

    def unsubscribe(self) -> None:
        self.inner.unsubscribe()

    def assign(self, partitions: list[TopicPartition]) -> None:
        self.inner.assign(partitions)

    def assignment(self) -> list[TopicPartition]:
        return [(place.topic, place.partition) for place in self.inner.assignment()]

    def poll(self, timeout: float, limit: int = 500) -> list[Rec]:
        found = self.inner.poll(timeout)
        return [plain(record) for records in found.values() for record in records]

    def commit(self, offsets: Mapping[TopicPartition, int] | None = None) -> None:
        self.inner.commit(None if offsets is None else places(offsets))

    def committed(self, partition: TopicPartition) -> int | None:
        found = self.inner.committed(Place(*partition))[Place(*partition)]
        return None if found is None else found.offset

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


class AdminOfBarnabas(Admin):
    """Also for the asyncio client, whose calls are made to look like blocking ones."""

    def __init__(self, inner: Any) -> None:
        self._inner = inner

    def create_topic(self, name, partitions=1, configs=None):
        self._inner.create_topic(name, partitions, configs=configs or {})

    def delete_topic(self, name: str) -> None:
        self._inner.delete_topic(name)

    def create_partitions(self, name: str, total: int) -> None:
        self._inner.create_partitions({name: NewPartitions(total)}).check()

    def topics(self) -> set[str]:
        return {listing.name for listing in self._inner.list_topics()}

    def partitions(self, topic: str) -> list[int]:
        return numbers(self._inner.describe_topic(topic).partitions)

    def topic_config(self, topic: str, name: str) -> str | None:
        resource = ConfigResource.topic(topic)
        entries = self._inner.describe_configs([resource])[resource]
        return entries[name].value

    def alter_topic_config(self, topic: str, name: str, value: str) -> None:
        self._inner.alter_configs({ConfigResource.topic(topic): {name: value}}).check()

    def delete_records(self, partition: TopicPartition, before: int) -> int:
        return self._inner.delete_records({Place(*partition): before})[Place(*partition)]

    def groups(self) -> set[str]:
        found = self._inner.list_groups()
        return {listing.group_id for listing in found}

    def group(self, group: str) -> tuple[str, int]:
        found = self._inner.describe_group(group)
        return found.state.value, len(found.members)

    def group_offsets(self, group: str) -> dict[TopicPartition, int]:
        found = self._inner.list_group_offsets([group])[group]
        return {(place.topic, place.partition): at.offset for place, at in found.items()}

    def alter_group_offsets(self, group: str, offsets: Mapping[TopicPartition, int]) -> None:
        self._inner.alter_group_offsets(group, places(offsets)).check()

    def delete_group(self, group: str) -> None:
        self._inner.delete_groups([group]).check()

    def brokers(self) -> int:
        return len(self._inner.describe_cluster().brokers)

    def close(self) -> None:
        self._inner.close()
