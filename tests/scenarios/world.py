"""The surroundings of one run of a scenario: unique names, clients of the library under test.

Preparation and inspection (creating topics, feeding and reading records, reading committed
offsets) use a control client that is the same for every library, so that only the actions of the
scenario itself come from the library under test.
"""

import itertools
import os
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from scenarios.adapter import Admin, Client, Consumer, Producer, Rec, ToolResult, TopicPartition

from barnabas.admin import Admin as ControlAdmin
from barnabas.admin.topic_types import NewPartitions
from barnabas.clients.producer import Producer as ControlProducer
from barnabas.clients.simple import SimpleConsumer
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BrokerError
from barnabas.model.ids import TopicPartition as Place

WAIT_SECONDS = 45.0
QUIET_SECONDS = 0.6
_numbers = itertools.count()


class Control:
    """Clients that prepare and inspect; shared by the scenarios on one set of brokers."""

    def __init__(self, servers: str, replication: int = 1, cluster: Any = None) -> None:
        self.servers = servers
        self.replication = replication
        self.cluster = cluster
        self.admin = ControlAdmin({"bootstrap.servers": servers})

    def close(self) -> None:
        self.admin.close()


class World:
    def __init__(self, client: Client, control: Control) -> None:
        self.client = client
        self.control = control
        self.servers = control.servers
        self.cluster = control.cluster
        self._open: list[Producer | Consumer | Admin] = []
        self._topics: set[str] = set()
        self._label = f"{client.name}-{os.getpid()}-{next(_numbers)}"

    # -- names ---------------------------------------------------------------------------------

    def name(self, word: str = "topic") -> str:
        """A name that no other run uses."""
        return f"{word}-{self._label}-{next(_numbers)}"

    # -- clients of the library under test -----------------------------------------------------

    def producer(self, config: Mapping[str, Any] | None = None) -> Producer:
        made = self.client.producer(self.servers, {"linger.ms": 0, **(config or {})})
        self._open.append(made)
        return made

    def consumer(self, group: str | None = None, **config: Any) -> Consumer:
        """Configuration by Kafka's names with underscores for dots; from the first record on."""
        settings: dict[str, Any] = {"auto.offset.reset": "earliest", "enable.auto.commit": False}
        if group is not None:
            settings["group.id"] = group
        settings.update({key.replace("_", "."): value for key, value in config.items()})
        made = self.client.consumer(self.servers, settings)
        self._open.append(made)
        return made

    def admin(self) -> Admin:
        made = self.client.admin(self.servers)
        self._open.append(made)
        return made

    def tool(self, name: str, *args: str, text: str = "") -> ToolResult:
        return self.client.tool(self.servers, name, *args, text=text)

    def close(self) -> None:
        for item in reversed(self._open):
            try:
                item.close()
            except Exception:  # noqa: BLE001 - closing twice is an error in some libraries
                continue
        if self._topics:
            self.control.admin.delete_topics(sorted(self._topics))

    # -- observation ---------------------------------------------------------------------------

    def error(self, action: Callable[[], Any]) -> str:
        """Kafka's name of the error that `action` raises, or "none"."""
        from scenarios.adapter import UnsupportedError

        try:
            action()
        except UnsupportedError:
            raise
        except Exception as error:  # noqa: BLE001 - every library has its own
            return self.client.error_name(error)
        return "none"

    def until(
        self, condition: Callable[[], Any], timeout: float = WAIT_SECONDS, pause: float = 0.03
    ) -> Any:
        """Wait for a condition; returns its last value."""
        deadline = time.monotonic() + timeout
        while True:
            value = condition()
            if value or time.monotonic() > deadline:
                return value
            threading.Event().wait(pause)

    def wait(self, seconds: float) -> None:
        threading.Event().wait(seconds)

    def read(self, consumer: Consumer, count: int, timeout: float = WAIT_SECONDS) -> list[Rec]:
        """Poll until `count` records arrived."""
        found: list[Rec] = []
        deadline = time.monotonic() + timeout
        while len(found) < count and time.monotonic() < deadline:
            found += consumer.poll(0.2, count - len(found))
        return found

    def quiet(self, consumer: Consumer, seconds: float = QUIET_SECONDS) -> list[Rec]:
        """Poll for a fixed time; returns what still arrived."""
        found: list[Rec] = []
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            found += consumer.poll(0.1)
        return found

    def join(self, consumer: Consumer, timeout: float = WAIT_SECONDS) -> list[TopicPartition]:
        """Poll until the consumer has partitions; it must have nothing to read."""
        deadline = time.monotonic() + timeout
        while not consumer.assignment() and time.monotonic() < deadline:
            consumer.poll(0.05)
        return sorted(consumer.assignment())

    def settle(self, *consumers: Consumer, sizes: Iterable[int]) -> list[int]:
        """Poll members in turn until their assignments have these sizes, in any order."""
        wanted = sorted(sizes)
        deadline = time.monotonic() + WAIT_SECONDS
        while time.monotonic() < deadline:
            for consumer in consumers:
                consumer.poll(0.05)
            if sorted(len(consumer.assignment()) for consumer in consumers) == wanted:
                break
        return sorted(len(consumer.assignment()) for consumer in consumers)

    @contextmanager
    def file(self, text: str) -> Iterator[str]:
        """A file with this text, for a tool."""
        with tempfile.NamedTemporaryFile("w", suffix=".json") as opened:
            opened.write(text)
            opened.flush()
            yield opened.name

    # -- preparation and inspection ------------------------------------------------------------

    def topic(
        self, partitions: int = 1, name: str | None = None, replication: int | None = None, **config
    ) -> str:
        """Create a topic and wait until all brokers know it."""
        name = name or self.name()
        settings = {key.replace("_", "."): str(value) for key, value in config.items()}
        self.control.admin.create_topic(
            name, partitions, replication or self.control.replication, configs=settings
        )
        self._topics.add(name)
        self._until_known(name, partitions)
        return name

    def grow(self, topic: str, total: int) -> None:
        self.control.admin.create_partitions({topic: NewPartitions(total)}).check()
        self._until_known(topic, total)

    def delete(self, topic: str) -> None:
        """Delete a topic; a client under test may have created it again when this returns."""
        deleted = self._listed()[topic]
        self.control.admin.delete_topic(topic)
        self._topics.discard(topic)
        self.until(lambda: self._listed().get(topic) != deleted)

    def recreate(self, topic: str) -> None:
        """Delete a topic and create it with one partition."""
        self.delete(topic)
        self.ensure(topic)

    def ensure(self, topic: str) -> None:
        """Create a topic with one partition, unless a client's request has created it already."""
        try:
            self.topic(1, name=topic)
        except BrokerError as error:
            if error.code is not ErrorCode.TOPIC_ALREADY_EXISTS:
                raise
            self._until_known(self.adopt(topic), 1)

    def exists(self, topic: str) -> bool:
        return topic in self._listed()

    def adopt(self, topic: str) -> str:
        """Delete this topic at the end, which the library under test created."""
        self._topics.add(topic)
        return topic

    def feed(
        self,
        topic: str,
        values: int | Iterable[bytes | None],
        partition: int | None = 0,
        **more: Any,
    ) -> None:
        """Write records by a control producer; a number writes b"0", b"1", …

        The producer is closed at once: an open one would create deleted topics again when it
        refreshes its metadata.
        """
        chosen = [b"%d" % n for n in range(values)] if isinstance(values, int) else values
        with ControlProducer({"bootstrap.servers": self.servers, "linger.ms": 2}) as producer:
            for future in [producer.send(topic, v, partition=partition, **more) for v in chosen]:
                future.result(WAIT_SECONDS)

    def stored(self, topic: str, committed: bool = False) -> list[Rec]:
        """All records of a topic by partition and offset."""
        isolation = "read_committed" if committed else "read_uncommitted"
        config = {"bootstrap.servers": self.servers, "isolation.level": isolation}
        with SimpleConsumer(config) as reader:
            return [
                Rec(topic, number, r.offset, r.key, r.value, tuple(r.headers), r.timestamp)
                for number in range(self.count(topic))
                for r in reader.records(topic, number)
            ]

    def spread(self, topic: str) -> dict[int, int]:
        """Records per partition."""
        return dict(sorted(Counter(record.partition for record in self.stored(topic)).items()))

    def count(self, topic: str) -> int:
        return len(self.control.admin.describe_topic(topic).partitions)

    def delete_before(self, topic: str, offset: int) -> None:
        """Delete the first records of partition 0."""
        self.control.admin.delete_records({Place(topic, 0): offset}).check()

    def commit_for(self, group: str, topic: str, offset: int) -> None:
        """Store an offset of partition 0 for a group without members."""
        self.control.admin.alter_group_offsets(group, {Place(topic, 0): offset}).check()

    def remove_members(self, group: str) -> None:
        """Take all members out of a group, as an administrator does."""
        self.control.admin.remove_group_members(group).check()

    def group_offsets(self, group: str) -> dict[int, int]:
        """A group's committed offsets by partition number."""
        found = self.control.admin.list_group_offsets([group])[group]
        return {place.partition: at.offset for place, at in sorted(found.items()) if at}

    def members(self, group: str) -> int:
        """Members of a group now; a group that does not exist has none."""
        try:
            return len(self.control.admin.describe_group(group).members)
        except BrokerError as error:
            if error.code is ErrorCode.GROUP_ID_NOT_FOUND:
                return 0
            raise

    def _listed(self) -> dict[str, Any]:
        """Topic ids by name."""
        return {listing.name: listing.topic_id for listing in self.control.admin.list_topics()}

    def _until_known(self, topic: str, partitions: int) -> None:
        if self.cluster is not None:
            self.cluster.wait_until_known(topic)

        def ready() -> bool:
            try:
                found = self.control.admin.describe_topic(topic).partitions
            except BrokerError:
                return False
            return len(found) == partitions and all(item.leader is not None for item in found)

        assert self.until(ready), f"{topic} did not get {partitions} partitions with leaders"
