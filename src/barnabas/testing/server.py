"""Base of all test clusters: create topics, produce and read records.

`ExternalKafka` is a cluster outside the test process (`--kafka-external`): it has these methods
and rejects those that need the broker in the test process.
"""

import threading
import uuid
from collections.abc import Mapping

import barnabas
from barnabas.model.errors import DeadlineError, LocalError
from barnabas.model.record_metadata import RecordMetadata
from barnabas.records.record import Record

PRODUCE_SECONDS = 30.0
_POLL_SECONDS = 0.02
_API_TIMEOUT_MS = 15_000


class KafkaServer:
    """A cluster with helper methods; their clients are created on first use."""

    def __init__(self) -> None:
        self._admin: barnabas.Admin | None = None
        self._producer: barnabas.Producer | None = None

    @property
    def bootstrap_servers(self) -> str:
        """The value for `bootstrap.servers` of a client."""
        raise NotImplementedError

    @property
    def admin(self) -> "barnabas.Admin":
        """An admin client; it is closed when the cluster stops."""
        if self._admin is None:
            self._check_running()
            self._admin = barnabas.Admin({"bootstrap.servers": self.bootstrap_servers})
        return self._admin

    def topic(
        self,
        name: str | None = None,
        *,
        partitions: int = 1,
        config: Mapping[str, object] | None = None,
    ) -> str:
        """Creates a topic and waits until it has leaders; returns its name.

        Args:
            name: the name of the topic (default: a unique name).
            partitions: number of partitions.
            config: topic configuration.
        """
        chosen = name or unique_name("topic")
        configs: dict[str, str | None] = {key: str(value) for key, value in (config or {}).items()}
        made = self.admin.create_topic(chosen, partitions, configs=configs)
        self._wait_for(chosen, made.partitions)
        return chosen

    def produce(
        self,
        topic: str,
        *values: bytes | str | None,
        key: bytes | str | None = None,
        partition: int | None = None,
        headers: Mapping[str, bytes] | None = None,
    ) -> list[RecordMetadata]:
        """Sends records and waits for their acknowledgements; text is encoded as UTF-8."""
        if self._producer is None:
            self._check_running()
            settings = {"bootstrap.servers": self.bootstrap_servers, "linger.ms": 0}
            self._producer = barnabas.Producer(settings)
        futures = [
            self._producer.send(
                topic, _bytes(value), _bytes(key), list((headers or {}).items()), partition
            )
            for value in values
        ]
        return [future.result(PRODUCE_SECONDS) for future in futures]

    def records(
        self,
        topic: str,
        *,
        at_least: int = 0,
        timeout: float = 10.0,
        read_committed: bool = False,
    ) -> list[Record]:
        """Returns all records of a topic, ordered by partition and offset.

        Args:
            at_least: wait until the topic has this many records.
            timeout: limit of this wait in seconds.
            read_committed: return only records of committed transactions.

        Raises:
            DeadlineError: the topic has fewer records after the timeout.
        """
        self._check_running()
        pause, rounds = threading.Event(), int(timeout / _POLL_SECONDS)
        for _ in range(max(rounds, 1)):
            found = self._read_all(topic, read_committed)
            if len(found) >= at_least:
                return found
            pause.wait(_POLL_SECONDS)
        raise DeadlineError(
            f"topic {topic!r} has {len(found)} records after {timeout:g} s, not {at_least}"
        )

    def close_clients(self) -> None:
        """Closes the clients of the helper methods; the next call creates new ones."""
        producer, self._producer = self._producer, None
        admin, self._admin = self._admin, None
        if producer is not None:
            producer.close(0)
        if admin is not None:
            admin.close()

    def _check_running(self) -> None:
        """Raises LocalError if it is known that no client can connect."""

    def _wait_for(self, topic: str, partitions: int) -> None:
        """Waits until all partitions have a leader: brokers get the metadata after the creation."""
        pause = threading.Event()
        for _ in range(int(PRODUCE_SECONDS / _POLL_SECONDS)):
            found = self.admin.describe_topics([topic]).ok.get(topic)
            leaders = [] if found is None else [item.leader for item in found.partitions]
            if leaders and None not in leaders and len(leaders) >= partitions:
                return
            pause.wait(_POLL_SECONDS)
        raise DeadlineError(f"topic {topic!r} was created but has no leaders")

    def _read_all(self, topic: str, read_committed: bool) -> list[Record]:
        isolation = "read_committed" if read_committed else "read_uncommitted"
        config = {
            "bootstrap.servers": self.bootstrap_servers,
            "isolation.level": isolation,
            "default.api.timeout.ms": _API_TIMEOUT_MS,
        }
        found: list[Record] = []
        with barnabas.SimpleConsumer(config) as consumer:
            for partition in sorted(consumer.partitions(topic)):
                found.extend(consumer.records(topic, partition))
        return found


def unique_name(prefix: str) -> str:
    """Returns a name that no other test, process or run uses."""
    return f"{prefix}-{uuid.uuid4().hex[:16]}"


def _bytes(value: bytes | str | None) -> bytes | None:
    return value.encode() if isinstance(value, str) else value


_IN_PROCESS_ONLY = frozenset(
    [
        "clock",
        "data_dir",
        "fail",
        "heal",
        "pause",
        "requests",
        "restart",
        "restore",
        "resume",
        "snapshot",
    ]
)


class ExternalKafka(KafkaServer):
    """A cluster given by its address; methods that need the broker in process raise an error."""

    def __init__(self, bootstrap_servers: str) -> None:
        super().__init__()
        self._bootstrap_servers = bootstrap_servers
        first = bootstrap_servers.split(",")[0]
        self.host, _, port = first.rpartition(":")
        self.port = int(port)

    @property
    def bootstrap_servers(self) -> str:
        return self._bootstrap_servers

    def __getattr__(self, name: str) -> object:
        if name in _IN_PROCESS_ONLY:
            raise InProcessOnlyError(f"`{name}` needs a broker in the test process")
        raise AttributeError(name)


class InProcessOnlyError(LocalError, AttributeError):
    """A test used a method of the in-process broker with an external cluster."""
