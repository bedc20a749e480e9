"""Blocking fixtures. After the test, clients are closed and topics deleted."""

import contextlib
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Protocol

import pytest

import barnabas
from barnabas import testing
from barnabas.pytest_plugin.options import broker_scope, broker_settings, external_servers

_ANSWER_SECONDS = 10.0


class TopicFactory(Protocol):
    """Creates topics that are deleted when the test ends."""

    def __call__(
        self,
        name: str | None = None,
        *,
        partitions: int = 1,
        config: Mapping[str, object] | None = None,
    ) -> str: ...


@pytest.fixture(scope=broker_scope)  # type: ignore[arg-type]
def kafka_broker(request: pytest.FixtureRequest) -> "Iterator[testing.KafkaServer]":
    """The Kafka under test: `barnabas.testing.Broker`, or the cluster of --kafka-external."""
    servers = external_servers(request.config)
    if servers is not None:
        external = testing.ExternalKafka(servers)
        external.admin.describe_cluster(
            timeout=_ANSWER_SECONDS
        )  # fail once here, not in every test
        yield external
        external.close_clients()
        return
    with testing.Broker(broker_settings(request.config)) as broker:
        yield broker


@pytest.fixture(scope=broker_scope)  # type: ignore[arg-type]
def kafka(kafka_broker: "testing.KafkaServer") -> "testing.KafkaServer":
    """The same as `kafka_broker`."""
    return kafka_broker


@pytest.fixture(scope=broker_scope)  # type: ignore[arg-type]
def kafka_bootstrap_servers(kafka_broker: "testing.KafkaServer") -> str:
    """host:port, for the `bootstrap.servers` of any client library."""
    return kafka_broker.bootstrap_servers


@pytest.fixture(scope="session")
def kafka_cluster(request: pytest.FixtureRequest) -> "Iterator[testing.Cluster]":
    """Three brokers in separate processes with a real ZooKeeper; tests may kill and restart them.

    Needs Java and `pip install barnabas[spark]`, whose jars contain ZooKeeper.
    """
    if external_servers(request.config) is not None:
        pytest.skip("brokers of an external cluster cannot be killed and restarted")
    with testing.Cluster(3) as cluster:
        yield cluster


@pytest.fixture
def kafka_topic_factory(kafka_broker: "testing.KafkaServer") -> Iterator[TopicFactory]:
    """A function `(name=None, partitions=1, config=None)` that creates a topic for one test."""
    made: list[str] = []

    def make(
        name: str | None = None,
        *,
        partitions: int = 1,
        config: Mapping[str, object] | None = None,
    ) -> str:
        topic = kafka_broker.topic(name, partitions=partitions, config=config)
        made.append(topic)
        return topic

    yield make
    if made:
        kafka_broker.admin.delete_topics(made)


@pytest.fixture
def kafka_topic(request: pytest.FixtureRequest, kafka_topic_factory: TopicFactory) -> str:
    """The name of a new topic; configure it with `@pytest.mark.kafka(partitions=…, config=…)`."""
    wanted: dict[str, Any] = {}
    for mark in reversed(list(request.node.iter_markers("kafka"))):
        wanted.update(mark.kwargs)
    return kafka_topic_factory(**wanted)


@pytest.fixture
def kafka_group() -> str:
    """A group id that no other test uses."""
    from barnabas.testing.server import unique_name  # pytest's start-up time

    return unique_name("group")


@pytest.fixture
def kafka_producer(kafka_bootstrap_servers: str) -> "Iterator[barnabas.Producer]":
    """A producer; its records are delivered when the test ends."""
    settings = {"bootstrap.servers": kafka_bootstrap_servers, "linger.ms": 0}
    with barnabas.Producer(settings) as producer:
        yield producer


@pytest.fixture
def kafka_consumer_factory(
    kafka_bootstrap_servers: str, kafka_group: str
) -> Iterator[Callable[..., Any]]:
    """A function `(*topics, **config)` that returns a consumer starting at the earliest record."""
    with contextlib.ExitStack() as stack:

        def make(*topics: str, **config: object) -> Any:
            settings = {**consumer_settings(kafka_bootstrap_servers, kafka_group), **config}
            consumer = stack.enter_context(barnabas.Consumer(settings))
            if topics:
                consumer.subscribe(list(topics))
            return consumer

        yield make


@pytest.fixture
def kafka_consumer(kafka_consumer_factory: Callable[..., Any]) -> Any:
    """A consumer in its own group that starts at the earliest record, not yet subscribed."""
    return kafka_consumer_factory()


@pytest.fixture
def kafka_admin(kafka_bootstrap_servers: str) -> "Iterator[barnabas.Admin]":
    """An admin client."""
    with barnabas.Admin({"bootstrap.servers": kafka_bootstrap_servers}) as admin:
        yield admin


def consumer_settings(bootstrap_servers: str, group: str) -> dict[str, object]:
    """Returns consumer settings for tests: read from the start, commit only on request."""
    return {
        "bootstrap.servers": bootstrap_servers,
        "group.id": group,
        "auto.offset.reset": "earliest",
        "enable.auto.commit": False,
    }
