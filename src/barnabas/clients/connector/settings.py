"""Typed settings of the connector; contradicting values are rejected at construction."""

import secrets
import socket
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TypeVar

from barnabas.clients.connector.assignors import ASSIGNORS, Assignor
from barnabas.clients.core.options import ClientOptions
from barnabas.model.config import ConfigValues
from barnabas.model.config_keys.connector import CONNECTOR_KEYS
from barnabas.model.errors import ConfigError
from barnabas.model.records import EARLIEST_TIMESTAMP, LATEST_TIMESTAMP, IsolationLevel

_RESETS = {
    "smallest": EARLIEST_TIMESTAMP,
    "earliest": EARLIEST_TIMESTAMP,
    "largest": LATEST_TIMESTAMP,
    "latest": LATEST_TIMESTAMP,
    "none": None,
}
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class FetchSettings:
    """Settings of the fetchers. `reset` is None if an invalid offset is an error."""

    partition_max_bytes: int
    min_bytes: int
    max_wait_ms: int
    fetchers_per_broker: int
    leader_backoff_s: float
    isolation: IsolationLevel
    reset: int | None


@dataclass(frozen=True, slots=True)
class OffsetSettings:
    """Settings of the offset storage and its retries."""

    storage: str
    dual_commit: bool
    auto_commit: bool
    auto_commit_interval_s: float
    commit_retries: int
    backoff_s: float
    timeout_s: float


@dataclass(frozen=True, slots=True)
class StreamSettings:
    """Settings of the streams. `timeout_s` is None for a stream without a timeout."""

    max_chunks: int
    timeout_s: float | None
    check_crcs: bool
    max_decompressed: int


@dataclass(frozen=True, slots=True)
class ConnectorSettings:
    """All settings. `consumer_id` is the name in the group, generated if none was given."""

    zookeeper: str
    session_timeout_s: float
    connect_timeout_s: float
    group: str
    consumer_id: str | None
    assignor: Assignor
    rebalance_retries: int
    rebalance_backoff_s: float
    exclude_internal: bool
    security_protocol: str
    fetch: FetchSettings
    offsets: OffsetSettings
    streams: StreamSettings
    values: ConfigValues

    @classmethod
    def parse(cls, config: Mapping[str, object]) -> "ConnectorSettings":
        """Returns the settings of a configuration; raises ConfigError with the cause."""
        values = CONNECTOR_KEYS.parse(config)
        _check(values)
        session_ms = values["zookeeper.session.timeout.ms"]
        backoff_ms = _or_default(values["rebalance.backoff.ms"], values["zookeeper.sync.time.ms"])
        return cls(
            zookeeper=values["zookeeper.connect"],
            session_timeout_s=session_ms / 1000,
            connect_timeout_s=_or_default(values["zookeeper.connection.timeout.ms"], session_ms)
            / 1000,
            group=values["group.id"],
            consumer_id=values["consumer.id"],
            assignor=ASSIGNORS[values["partition.assignment.strategy"]],
            rebalance_retries=values["rebalance.max.retries"],
            rebalance_backoff_s=backoff_ms / 1000,
            exclude_internal=values["exclude.internal.topics"],
            security_protocol=values["security.protocol"],
            fetch=_fetch(values),
            offsets=_offsets(values),
            streams=_streams(values),
            values=values,
        )

    def client_options(self, bootstrap: Iterable[str]) -> ClientOptions:
        """Returns the options of a client of these brokers."""
        return ClientOptions.from_values(
            {
                **self.values,
                "bootstrap.servers": list(bootstrap),
                "client.id": _or_default(self.values["client.id"], self.group),
                "request.timeout.ms": self.values["socket.timeout.ms"],
                "receive.buffer.bytes": self.values["socket.receive.buffer.bytes"],
            }
        )


def consumer_id_string(group: str, consumer_id: str | None, now_ms: int) -> str:
    """Returns the name in the group.

    It is not a sequential node: after a lost connection the client could not determine whether
    the node was created, or which one it was.

    >>> consumer_id_string("g", "C1", 0)
    'g_C1'
    """
    own = consumer_id or f"{socket.gethostname()}-{now_ms}-{secrets.token_hex(4)}"
    return f"{group}_{own}"


def _fetch(values: ConfigValues) -> FetchSettings:
    committed = values["isolation.level"] == "read_committed"
    return FetchSettings(
        partition_max_bytes=values["fetch.message.max.bytes"],
        min_bytes=values["fetch.min.bytes"],
        max_wait_ms=values["fetch.wait.max.ms"],
        fetchers_per_broker=values["num.consumer.fetchers"],
        leader_backoff_s=values["refresh.leader.backoff.ms"] / 1000,
        isolation=IsolationLevel.READ_COMMITTED if committed else IsolationLevel.READ_UNCOMMITTED,
        reset=_RESETS[values["auto.offset.reset"]],
    )


def _offsets(values: ConfigValues) -> OffsetSettings:
    in_kafka = values["offsets.storage"] == "kafka"
    return OffsetSettings(
        storage=values["offsets.storage"],
        dual_commit=in_kafka and _or_default(values["dual.commit.enabled"], True),
        auto_commit=values["auto.commit.enable"],
        auto_commit_interval_s=values["auto.commit.interval.ms"] / 1000,
        commit_retries=values["offsets.commit.max.retries"],
        backoff_s=values["offsets.channel.backoff.ms"] / 1000,
        timeout_s=values["offsets.channel.socket.timeout.ms"] / 1000,
    )


def _streams(values: ConfigValues) -> StreamSettings:
    timeout_ms = values["consumer.timeout.ms"]
    return StreamSettings(
        max_chunks=values["queued.max.message.chunks"],
        timeout_s=None if timeout_ms < 0 else timeout_ms / 1000,
        check_crcs=values["check.crcs"],
        max_decompressed=values["max.decompressed.batch.bytes"],
    )


def _check(values: ConfigValues) -> None:
    if values["fetch.wait.max.ms"] > values["socket.timeout.ms"]:
        raise ConfigError(
            "socket.timeout.ms should always be at least fetch.wait.max.ms to prevent "
            "unnecessary socket timeouts"
        )
    if values["dual.commit.enabled"] and values["offsets.storage"] != "kafka":
        raise ConfigError("dual.commit.enabled needs offsets.storage=kafka")


def _or_default(value: T | None, default: T) -> T:
    return default if value is None else value
