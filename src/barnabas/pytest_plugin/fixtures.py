"""Options of the plugin and its blocking fixtures.

| option | ini | meaning |
|---|---|---|
| `--kafka-external=host:port` | `kafka_external` | use this cluster instead of a broker |
| `--kafka-scope=session` | `kafka_scope` | fixture scope of the broker: session, module, … |
| | `kafka_config` | lines `key=value`: settings of the in-process broker |

`@pytest.mark.kafka(partitions=3, config={"cleanup.policy": "compact"})` configures the
`kafka_topic` of a test. After the test, clients are closed and topics deleted.
"""

import contextlib
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Protocol

import pytest

import barnabas
from barnabas import testing

SCOPES = ("session", "package", "module", "class", "function")
MARKER = "kafka(partitions=1, config={}): partitions and settings of the test's kafka_topic"
_MARKER_KEYS = {"name", "partitions", "config"}
_RESPONSE_SECONDS = 10.0


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("kafka", "barnabas: Kafka for tests")
    group.addoption(
        "--kafka-external",
        metavar="HOST:PORT",
        default=None,
        help="run against this cluster instead of an in-process broker",
    )
    group.addoption(
        "--kafka-scope", choices=SCOPES, default=None, help="fixture scope of the in-process broker"
    )
    parser.addini("kafka_external", "host:port of a cluster to run against", default="")
    parser.addini("kafka_scope", "fixture scope of the in-process broker", default="session")
    parser.addini("kafka_config", "settings of the in-process broker", type="linelist", default=[])


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", MARKER)


def external_servers(config: pytest.Config) -> str | None:
    """Returns the address of the external cluster, or None for an in-process broker."""
    chosen: str = config.getoption("--kafka-external") or config.getini("kafka_external")
    return chosen or None


def broker_scope(fixture_name: str, config: pytest.Config) -> str:
    """Returns the configured scope of the broker fixtures."""
    scope: str = config.getoption("--kafka-scope") or config.getini("kafka_scope")
    if scope not in SCOPES:
        raise pytest.UsageError(f"kafka_scope={scope}: must be one of {', '.join(SCOPES)}")
    return scope


def broker_settings(config: pytest.Config) -> dict[str, object]:
    """Returns the broker settings of the ini file."""
    settings: dict[str, object] = {}
    for line in config.getini("kafka_config"):
        key, separator, value = line.partition("=")
        if not separator:
            raise pytest.UsageError(f"kafka_config: {line!r} is not key=value")
        settings[key.strip()] = value.strip()
    return settings


class TopicFactory(Protocol):
    """Creates topics that are deleted when the test ends."""

    def __call__(
        self,
        name: str | None = None,
        *,
        partitions: int = 1,
        config: Mapping[str, object] | None = None,
    ) -> str: ...


@pytest.fixture(scope=broker_scope)  # type: ignore[arg-type]  # untyped callable
def kafka_broker(request: pytest.FixtureRequest) -> "Iterator[testing.KafkaServer]":
    """The Kafka under test: `barnabas.testing.Broker`, or the cluster of --kafka-external."""
    servers = external_servers(request.config)
    if servers is not None:
        external = testing.ExternalKafka(servers)
        external.admin.describe_cluster(
            timeout=_RESPONSE_SECONDS
        )  # fail once here, not in every test
        yield external
        external.close_clients()
        return
    with testing.Broker(broker_settings(request.config)) as broker:
        yield broker


@pytest.fixture(scope=broker_scope)  # type: ignore[arg-type]  # untyped callable
def kafka(kafka_broker: "testing.KafkaServer") -> "testing.KafkaServer":
    """The same as `kafka_broker`."""
    return kafka_broker


@pytest.fixture(scope=broker_scope)  # type: ignore[arg-type]  # untyped callable
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


def _marker_text(mark: pytest.Mark) -> str:
    given = [repr(value) for value in mark.args]
    given += [f"{key}={value!r}" for key, value in mark.kwargs.items()]
    return f"{mark.name}({', '.join(given)})"


@pytest.fixture
def kafka_topic(request: pytest.FixtureRequest, kafka_topic_factory: TopicFactory) -> str:
    """The name of a new topic; configure it with `@pytest.mark.kafka(partitions=…, config=…)`."""
    wanted: dict[str, Any] = {}
    for mark in reversed(list(request.node.iter_markers("kafka"))):
        wanted.update(mark.kwargs)
        if mark.args or not wanted.keys() <= _MARKER_KEYS:
            raise pytest.UsageError(f"{_marker_text(mark)}: the marker is {MARKER}")
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
            # Keywords have underscores, and the same key under two names is an error.
            given = {name.replace("_", ".") for name in config}
            own = consumer_settings(kafka_bootstrap_servers, kafka_group)
            settings = {name: value for name, value in own.items() if name not in given} | config
            consumer = stack.enter_context(barnabas.Consumer(settings))
            if topics:
                consumer.subscribe(list(topics))
            return consumer

        yield make


@pytest.fixture
def kafka_consumer(kafka_consumer_factory: Callable[..., object]) -> Any:
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
