"""Our asyncio clients, driven from scripts that block."""

import re
from collections.abc import Mapping
from functools import partial
from typing import Any

from scenarios.adapter import Admin, Client, Consumer, Producer, Rec, Sent, TopicPartition
from scenarios.adapters.barnabas_blocking import (
    AdminOfBarnabas,
    Listener,
    error_name,
    numbers,
    places,
    plain,
    sent,
)
from scenarios.adapters.loop_thread import Blocking, Loop

from barnabas import aio
from barnabas.model.ids import TopicPartition as Place


class AsyncioClient(Client):
    name = "barnabas.aio"

    def __init__(self) -> None:
        self._loop = Loop("scenarios-barnabas-aio")

    def producer(self, servers: str, config: Mapping[str, Any]) -> Producer:
        return _Producer(self._loop, {"bootstrap.servers": servers, **config})

    def consumer(self, servers: str, config: Mapping[str, Any]) -> Consumer:
        return _Consumer(self._loop, {"bootstrap.servers": servers, **config})

    def admin(self, servers: str) -> Admin:
        inner = self._loop.run(_made(aio.Admin, {"bootstrap.servers": servers}))
        return AdminOfBarnabas(Blocking(inner, self._loop))

    def error_name(self, error: BaseException) -> str:
        return error_name(error)

    def close(self) -> None:
        self._loop.close()


async def _made(kind: Any, config: Mapping[str, Any]) -> Any:
    """Construct a client on the running loop."""
    return kind(config)


class _Producer(Producer):
    def __init__(self, loop: Loop, config: Mapping[str, Any]) -> None:
        self._loop = loop
        self._inner = loop.run(_made(aio.Producer, config))
        self._blocking = Blocking(self._inner, loop)

    def send(self, topic, value=None, key=None, *, partition=None, headers=(), timestamp=None):
        delivery = self._blocking.send(topic, value, key, list(headers), partition, timestamp)
        return partial(self._delivered, delivery)

    def _delivered(self, delivery: Any, timeout: float) -> Sent:
        async def wait() -> Any:
            return await delivery

        return sent(self._loop.run(wait(), timeout))

    def flush(self, timeout: float = 30.0) -> None:
        self._blocking.flush(timeout)

    def close(self) -> None:
        self._blocking.close()

    def partitions_for(self, topic: str) -> list[int]:
        return numbers(self._blocking.partitions_for(topic))

    def init_transactions(self) -> None:
        self._blocking.init_transactions()

    def begin(self) -> None:
        self._blocking.begin_transaction()

    def commit(self) -> None:
        self._blocking.commit_transaction()

    def abort(self) -> None:
        self._blocking.abort_transaction()

    def send_offsets(self, offsets: Mapping[TopicPartition, int], consumer: Any) -> None:
        metadata = consumer.blocking.group_metadata()
        self._blocking.send_offsets_to_transaction(places(offsets), metadata)


class _Consumer(Consumer):
    def __init__(self, loop: Loop, config: Mapping[str, Any]) -> None:
        self.blocking = Blocking(loop.run(_made(aio.Consumer, config)), loop)

    def subscribe(self, topics: list[str], events: list[Any] | None = None) -> None:
        self.blocking.subscribe(topics, None if events is None else Listener(events))

    def subscribe_pattern(self, pattern: str) -> None:
        self.blocking.subscribe(re.compile(pattern))

    def unsubscribe(self) -> None:
        self.blocking.unsubscribe()

    def assign(self, partitions: list[TopicPartition]) -> None:
        self.blocking.assign(partitions)

    def assignment(self) -> list[TopicPartition]:
        return [(place.topic, place.partition) for place in self.blocking.assignment()]

    def poll(self, timeout: float, limit: int = 500) -> list[Rec]:
        found = self.blocking.poll(timeout)
        return [plain(record) for records in found.values() for record in records]

    def commit(self, offsets: Mapping[TopicPartition, int] | None = None) -> None:
        self.blocking.commit(None if offsets is None else places(offsets))

    def committed(self, partition: TopicPartition) -> int | None:
        found = self.blocking.committed(Place(*partition))[Place(*partition)]
        return None if found is None else found.offset

    def position(self, partition: TopicPartition) -> int:
        return self.blocking.position(Place(*partition))

    def seek(self, partition: TopicPartition, offset: int) -> None:
        self.blocking.seek(Place(*partition), offset)

    def seek_to_beginning(self, partition: TopicPartition) -> None:
        self.blocking.seek_to_beginning(Place(*partition))

    def seek_to_end(self, partition: TopicPartition) -> None:
        self.blocking.seek_to_end(Place(*partition))

    def pause(self, partition: TopicPartition) -> None:
        self.blocking.pause(Place(*partition))

    def resume(self, partition: TopicPartition) -> None:
        self.blocking.resume(Place(*partition))

    def beginning_offset(self, partition: TopicPartition) -> int:
        return self.blocking.beginning_offsets([Place(*partition)])[Place(*partition)]

    def end_offset(self, partition: TopicPartition) -> int:
        return self.blocking.end_offsets([Place(*partition)])[Place(*partition)]

    def offset_for_time(self, partition: TopicPartition, timestamp: int) -> int | None:
        found = self.blocking.offsets_for_times({Place(*partition): timestamp})[Place(*partition)]
        return None if found is None else found.offset

    def close(self) -> None:
        self.blocking.close()
