"""Tests of topologies: write records to topics, run to their end, read the results.

Time is the time of the records: a test of late rows writes records with such timestamps. In pytest
the fixture `kafka_streams` is a `Bench` on the broker and the Spark session of the tests.
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
    """A record to write: its value is a mapping or a dataclass (as JSON), text, bytes, or None."""

    value: Any
    key: str | bytes | None = None
    timestamp: int | None = None
    partition: int | None = None


@dataclass(frozen=True, slots=True)
class Found:
    """A record of a topic; its value is decoded from JSON, or bytes if it is not JSON."""

    key: str | None
    value: Any
    timestamp: int
    partition: int
    offset: int


class Bench:
    """A cluster, a Spark session and a directory for checkpoints, for tests of topologies."""

    def __init__(
        self, bootstrap_servers: str, spark: "SparkSession", directory: Path | str
    ) -> None:
        self.bootstrap_servers = bootstrap_servers
        self.spark = spark
        self.directory = Path(directory)

    def feed(self, topic: str, records: Iterable[Fed | object], *, partitions: int = 1) -> None:
        """Writes records to a topic, in order; creates the topic if it does not exist."""
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
        """Runs a topology to the end of its topics; a second call continues from the checkpoint."""
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
        """Returns the committed records of a topic, partition by partition."""
        return list(self._read(topic))

    def rows(self, topic: str) -> list[Any]:
        """Returns the values of a topic, in the order of partitions and offsets."""
        return [record.value for record in self.records(topic)]

    def table(self, topic: str) -> dict[str | None, Any]:
        """Returns the last value of each key, without deleted keys."""
        found: dict[str | None, Any] = {}
        for record in self.records(topic):
            found.pop(record.key, None)
            if record.value is not None:
                found[record.key] = record.value
        return found

    def check_rows(self, topic: str, expected: Iterable[object]) -> None:
        """Raises LocalError, with the missing and extra values, unless the topic has these in any
        order.
        """
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


def _decoded(value: bytes | None) -> object:
    if value is None:
        return None
    try:
        return json.loads(value)
    except ValueError:
        return bytes(value)


def _plain(value: object) -> object:
    return asdict(value) if is_dataclass(value) and not isinstance(value, type) else value


def _encoded(value: object) -> bytes | None:
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
