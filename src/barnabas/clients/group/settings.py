"""Typed settings of the consumer; contradicting values are rejected at construction."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from barnabas.clients.assignors import Assignor, resolve_assignors
from barnabas.clients.core.options import ClientOptions, tracing_module
from barnabas.clients.core.serialization import Conversion, deserializer
from barnabas.clients.group.fetch_plan import BACKLOG_FACTOR, FetchLimits
from barnabas.clients.group.subscription import OffsetReset, parse_reset
from barnabas.clients.metrics.client_metrics import MetricsSettings
from barnabas.model.config_keys.consumer import CONSUMER_KEYS
from barnabas.model.errors import ConfigError
from barnabas.model.records import IsolationLevel


@dataclass(frozen=True, slots=True)
class GroupSettings:
    """Settings of group membership; exist only if `group.id` is set."""

    group_id: str
    instance_id: str | None
    protocol: str
    remote_assignor: str | None
    assignors: tuple[Assignor, ...]
    session_timeout_ms: int
    heartbeat_interval_ms: int
    max_poll_interval_ms: int
    rack: str


@dataclass(frozen=True, slots=True)
class ConsumerSettings:
    """Settings of all components of a consumer."""

    client: ClientOptions
    metrics: MetricsSettings
    group: GroupSettings | None
    fetch_limits: FetchLimits
    reset: OffsetReset
    """Policy for a partition without a committed offset."""
    reset_out_of_range: OffsetReset
    """Policy for a position that is not in the log."""
    auto_commit: bool
    auto_commit_interval_ms: int
    max_poll_records: int
    check_crcs: bool
    max_decompressed: int
    request_timeout_s: float
    api_timeout_s: float
    auto_create_topics: bool
    exclude_internal: bool
    key_deserializer: Conversion | None
    value_deserializer: Conversion | None
    interceptors: tuple[Any, ...]

    @property
    def committed_only(self) -> bool:
        return self.fetch_limits.isolation is IsolationLevel.READ_COMMITTED

    @classmethod
    def parse(cls, config: Mapping[str, object]) -> "ConsumerSettings":
        """Returns the settings of a configuration; raises ConfigError with the cause."""
        values = CONSUMER_KEYS.parse(config)
        given = CONSUMER_KEYS.given(config)
        _check(values, given)
        return cls(
            client=ClientOptions.from_values(values),
            metrics=MetricsSettings.from_values(values),
            group=_group(values),
            fetch_limits=_fetch_limits(values, given),
            reset=parse_reset(values["auto.offset.reset"]),
            reset_out_of_range=parse_reset(
                values["auto.offset.reset.out.of.range"] or values["auto.offset.reset"]
            ),
            # Offsets can be committed for a group only.
            auto_commit=values["enable.auto.commit"] and values["group.id"] is not None,
            auto_commit_interval_ms=values["auto.commit.interval.ms"],
            max_poll_records=values["max.poll.records"],
            check_crcs=values["check.crcs"],
            max_decompressed=values["max.decompressed.batch.bytes"],
            request_timeout_s=values["request.timeout.ms"] / 1000,
            api_timeout_s=values["default.api.timeout.ms"] / 1000,
            auto_create_topics=values["allow.auto.create.topics"],
            exclude_internal=values["exclude.internal.topics"],
            key_deserializer=deserializer(values, "key.deserializer"),
            value_deserializer=deserializer(values, "value.deserializer"),
            interceptors=(*values["interceptor.classes"], *_tracing(values)),
        )


def _fetch_limits(values: Mapping[str, Any], given: Collection[str]) -> FetchLimits:
    committed = values["isolation.level"] == "read_committed"
    partition_max_bytes = values["max.partition.fetch.bytes"]
    factor = 1 if "max.partition.fetch.bytes" in given else BACKLOG_FACTOR
    return FetchLimits(
        min_bytes=values["fetch.min.bytes"],
        max_bytes=values["fetch.max.bytes"],
        max_wait_ms=values["fetch.max.wait.ms"],
        partition_max_bytes=partition_max_bytes,
        backlog_max_bytes=factor * partition_max_bytes,
        adaptive=not {"fetch.max.bytes", "max.partition.fetch.bytes"}.intersection(given),
        isolation=IsolationLevel.READ_COMMITTED if committed else IsolationLevel.READ_UNCOMMITTED,
        rack=values["client.rack"],
    )


def _group(values: Mapping[str, Any]) -> GroupSettings | None:
    if values["group.id"] is None:
        return None
    return GroupSettings(
        group_id=values["group.id"],
        instance_id=values["group.instance.id"],
        protocol=values["group.protocol"],
        remote_assignor=values["group.remote.assignor"],
        assignors=tuple(resolve_assignors(values["partition.assignment.strategy"])),
        session_timeout_ms=values["session.timeout.ms"],
        heartbeat_interval_ms=values["heartbeat.interval.ms"],
        max_poll_interval_ms=values["max.poll.interval.ms"],
        rack=values["client.rack"],
    )


def _check(values: Mapping[str, Any], given: set[str]) -> None:
    if values["group.id"] == "":
        raise ConfigError("group.id: must not be empty")
    for name in ("enable.auto.commit", "group.instance.id"):
        if values["group.id"] is None and name in given and values[name]:
            raise ConfigError(f"{name} needs group.id")
    if values["heartbeat.interval.ms"] >= values["session.timeout.ms"]:
        raise ConfigError("heartbeat.interval.ms must be less than session.timeout.ms")
    if values["group.protocol"] == "consumer":
        own = {"session.timeout.ms", "heartbeat.interval.ms", "partition.assignment.strategy"}
        for name in sorted(own & given):
            raise ConfigError(f"{name}: with group.protocol=consumer the broker sets it; remove it")
    elif "group.remote.assignor" in given:
        raise ConfigError("group.remote.assignor needs group.protocol=consumer")
    if values["fetch.max.wait.ms"] >= values["request.timeout.ms"]:
        raise ConfigError("fetch.max.wait.ms must be less than request.timeout.ms")


def _tracing(values: Mapping[str, Any]) -> tuple[Any, ...]:
    """Returns the interceptor that creates spans, if tracing is on."""
    tracing = tracing_module(values)
    if tracing is None:
        return ()
    return (tracing.ConsumerTracing(values["client.id"], values["group.id"]),)
