"""Testing topologies: feed topics, run to the end of them, look at what came out.

Time is the records': what a test wants late or out of order it feeds so. In pytest the fixture
`kafka_streams` is a `Bench` on the tests' broker and Spark session.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, is_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from barnabas.admin import Admin
from barnabas.clients.producer import Producer
from barnabas.clients.simple import SimpleConsumer
from barnabas.model.errors import LocalError
from barnabas.streams.run import LostStatePolicy, Runner
from barnabas.streams.topology import Topology

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

RUN_SECONDS = 300.0


@dataclass(frozen=True, slots=True)
class Fed:
    """A record for a topic: the value a mapping or dataclass (as JSON), text, bytes, or None."""

    value: Any
    key: str | bytes | None = None
    timestamp: int | None = None
    partition: int | None = None


@dataclass(frozen=True, slots=True)
class Found:
    """A record of a topic; the value as JSON gave it, or bytes where it is none."""

    key: str | None
    value: Any
    timestamp: int
    partition: int
    offset: int


class Bench:
    """A cluster, a Spark session and a directory for checkpoints: what a test of streams needs."""

    def __init__(
        self, bootstrap_servers: str, spark: "SparkSession", directory: Path | str
    ) -> None:
        self.bootstrap_servers = bootstrap_servers
        self.spark = spark
        self.directory = Path(directory)

    def feed(self, topic: str, records: Iterable[Fed | Any], *, partitions: int = 1) -> None:
        """Write records to a topic, in order; the topic is made when it is not there."""
        self._make(topic, partitions)
        with Producer({"bootstrap.servers": self.bootstrap_servers}) as producer:
            sent = []
            for item in records:
                record = item if isinstance(item, Fed) else Fed(item)
                value = _encoded(record.value)
                sent.append(
                    producer.send(
                        topic, value, _bytes(record.key), (), record.partition, record.timestamp
                    )
                )
            producer.flush()
            for future in sent:
                future.result(RUN_SECONDS)

    def run(
        self,
        topology: Topology,
        *,
        options: Mapping[str, str] | None = None,
        timeout: float = RUN_SECONDS,
        lost_state: LostStatePolicy = "refuse",
    ) -> None:
        """Run a topology to the end of its topics; called again it carries on."""
        runner = Runner(
            topology,
            bootstrap_servers=self.bootstrap_servers,
            checkpoint=str(self.directory / topology.name),
            spark=self.spark,
            options=options,
            lost_state=lost_state,
        )
        runner.run(timeout)

    def records(self, topic: str) -> list[Found]:
        """The committed records of a topic, partition by partition."""
        return list(self._read(topic))

    def rows(self, topic: str) -> list[Any]:
        """The values of a topic, in order of partitions and offsets."""
        return [record.value for record in self.records(topic)]

    def table(self, topic: str) -> dict[str | None, Any]:
        """The last value of each key; deleted ones are not there."""
        found: dict[str | None, Any] = {}
        for record in self.records(topic):
            found.pop(record.key, None)
            if record.value is not None:
                found[record.key] = record.value
        return found

    def check_rows(self, topic: str, expected: Iterable[Any]) -> None:
        """The topic's values are these, in any order; LocalError says what is missing or extra."""
        found = sorted(json.dumps(row, sort_keys=True) for row in self.rows(topic))
        wanted = sorted(json.dumps(_plain(row), sort_keys=True) for row in expected)
        missing = _without(wanted, found)
        extra = _without(found, wanted)
        if missing or extra:
            raise LocalError(f"topic {topic}: missing {missing or 'none'}, extra {extra or 'none'}")

    def _make(self, topic: str, partitions: int) -> None:
        with Admin({"bootstrap.servers": self.bootstrap_servers}) as admin:
            if topic not in {listing.name for listing in admin.list_topics()}:
                admin.create_topic(topic, partitions)

    def _read(self, topic: str) -> Iterator[Found]:
        config = {
            "bootstrap.servers": self.bootstrap_servers,
            "isolation.level": "read_committed",
        }
        with SimpleConsumer(config) as consumer:
            for partition in sorted(consumer.partitions(topic)):
                yield from _read_partition(consumer, topic, partition)


def _read_partition(consumer: SimpleConsumer, topic: str, partition: int) -> Iterator[Found]:
    for record in consumer.records(topic, partition):
        key = None if record.key is None else bytes(record.key).decode()
        yield Found(key, _decoded(record.value), record.timestamp, partition, record.offset)


def _decoded(value: bytes | None) -> Any:
    if value is None:
        return None
    try:
        return json.loads(value)
    except ValueError:
        return bytes(value)


def _plain(value: Any) -> Any:
    return asdict(value) if is_dataclass(value) and not isinstance(value, type) else value


def _encoded(value: Any) -> bytes | None:
    value = _plain(value)
    if value is None or isinstance(value, bytes | str):
        return _bytes(value)
    return json.dumps(value).encode()


def _bytes(value: str | bytes | None) -> bytes | None:
    return value.encode() if isinstance(value, str) else value


def _without(items: list[str], others: list[str]) -> list[str]:
    rest = list(others)
    found = []
    for item in items:
        if item in rest:
            rest.remove(item)
        else:
            found.append(item)
    return found
