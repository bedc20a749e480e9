"""Typed settings of a producer; contradictions raise ConfigError at construction."""

import enum
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from barnabas.clients.core.options import ClientOptions, tracing_module
from barnabas.clients.core.serialization import Conversion, serializer
from barnabas.clients.metrics.client_metrics import MetricsSettings
from barnabas.clients.producer.custom_partitioner import PartitionerObject, load_partitioner
from barnabas.model.config_keys.producer import PRODUCER_KEYS
from barnabas.model.errors import ConfigError
from barnabas.model.records import Codec

MAX_IN_FLIGHT_WITH_IDEMPOTENCE = 5
ADAPTIVE_BATCH_BYTES = 512 * 1024
"""Limit of a batch that grows; below a broker's default message.max.bytes of 1 MB."""
Partitioner = Callable[[str, bytes | None, bytes | None, int], int]


class PartitionerKind(enum.StrEnum):
    """The partitioners that partitioner.class names."""

    BUILT_IN = "murmur2"
    ROUND_ROBIN = "round_robin"
    HASH_OR_ROUND_ROBIN = "hash_or_round_robin"
    CONSISTENT = "consistent"
    CONSISTENT_RANDOM = "consistent_random"
    RANDOM = "random"


@dataclass(frozen=True, slots=True)
class ProducerSettings:
    """The configuration of a producer, parsed and checked."""

    client: ClientOptions
    metrics: MetricsSettings
    acks: int
    idempotent: bool
    transactional_id: str | None
    transaction_timeout_ms: int
    batch_size: int
    """A batch of this size is sent without waiting for linger.ms."""
    max_batch_size: int
    """Largest batch; above `batch_size` if the user did not set batch.size."""
    linger_ms: int
    linger_is_default: bool
    """Whether the user did not set linger.ms; then an awaited batch is sent at once."""
    buffer_memory: int
    max_block_ms: int
    max_request_size: int
    max_in_flight: int
    retries: int
    delivery_timeout_ms: int
    request_timeout_ms: int
    codec: Codec
    codec_level: int | None
    key_serializer: Conversion | None
    value_serializer: Conversion | None
    partitioner: Partitioner | None
    partitioner_object: PartitionerObject | None
    partitioner_kind: PartitionerKind
    hash_keys: bool
    adaptive_partitioning: bool
    availability_timeout_ms: int
    metadata_max_idle_ms: int
    interceptors: tuple[Any, ...]

    @classmethod
    def parse(cls, config: Mapping[str, object]) -> "ProducerSettings":
        """Parses a user's configuration. Raises ConfigError."""
        values = PRODUCER_KEYS.parse(config)
        codec = Codec[values["compression.type"].upper()]
        partitioner = values["partitioner.class"]
        chooser = load_partitioner(partitioner, values)
        partitioner = None if chooser is not None else partitioner
        settings = cls(
            client=ClientOptions.from_values(values),
            metrics=MetricsSettings.from_values(values),
            acks=-1 if values["acks"] == "all" else int(values["acks"]),
            idempotent=_idempotent(values),
            transactional_id=values["transactional.id"],
            transaction_timeout_ms=values["transaction.timeout.ms"],
            batch_size=max(values["batch.size"], 1),
            max_batch_size=_max_batch_size(values, config),
            linger_ms=values["linger.ms"],
            linger_is_default="linger.ms" not in PRODUCER_KEYS.given(config),
            buffer_memory=values["buffer.memory"],
            max_block_ms=values["max.block.ms"],
            max_request_size=values["max.request.size"],
            max_in_flight=values["max.in.flight.requests.per.connection"],
            retries=values["retries"],
            delivery_timeout_ms=values["delivery.timeout.ms"],
            request_timeout_ms=values["request.timeout.ms"],
            codec=codec,
            codec_level=_level(values, codec, config),
            key_serializer=serializer(values, "key.serializer"),
            value_serializer=serializer(values, "value.serializer"),
            partitioner=partitioner if callable(partitioner) else None,
            partitioner_object=chooser,
            partitioner_kind=_partitioner_kind(partitioner),
            hash_keys=not values["partitioner.ignore.keys"],
            adaptive_partitioning=values["partitioner.adaptive.partitioning.enable"],
            availability_timeout_ms=values["partitioner.availability.timeout.ms"],
            metadata_max_idle_ms=values["metadata.max.idle.ms"],
            interceptors=(*values["interceptor.classes"], *_tracing(values)),
        )
        settings._check(config)
        return settings

    @property
    def plain(self) -> bool:
        """Whether records need no serializer, interceptor or other partitioner."""
        return not (
            self.key_serializer
            or self.value_serializer
            or self.partitioner
            or self.partitioner_object
            or self.partitioner_kind is not PartitionerKind.BUILT_IN
            or self.interceptors
        )

    @property
    def adaptive(self) -> bool:
        """Whether open batches may grow beyond batch.size while requests are in flight."""
        return self.max_batch_size > self.batch_size

    @property
    def hashes_keys(self) -> bool:
        """Whether the built-in partitioner chooses by the murmur2 hash of a key."""
        custom = self.partitioner or self.partitioner_object
        built_in = custom is None and self.partitioner_kind is PartitionerKind.BUILT_IN
        return built_in and self.hash_keys

    def _check(self, config: Mapping[str, object]) -> None:
        if self.transactional_id is not None and not self.idempotent:
            raise ConfigError("transactional.id needs enable.idempotence=true")
        least = self.linger_ms + self.request_timeout_ms
        given = PRODUCER_KEYS.given(config)
        if "delivery.timeout.ms" in given and self.delivery_timeout_ms < least:
            raise ConfigError(
                f"delivery.timeout.ms={self.delivery_timeout_ms} must be at least "
                f"linger.ms + request.timeout.ms = {least}"
            )


def _partitioner_kind(given: object) -> PartitionerKind:
    if given is None or callable(given):
        return PartitionerKind.BUILT_IN
    try:
        return PartitionerKind(str(given))
    except ValueError:
        names = ", ".join(repr(kind.value) for kind in PartitionerKind)
        raise ConfigError(
            f"partitioner.class={given!r}: must be one of {names}, a callable, "
            "or an object or class with a method partition()"
        ) from None


def _idempotent(values: Mapping[str, Any]) -> bool:
    """Returns whether idempotence is on: the default, unless another setting excludes it."""
    requested = values["enable.idempotence"]
    obstacles = [
        (values["acks"] in ("0", "1"), f"acks={values['acks']}"),
        (values["retries"] == 0, "retries=0"),
        (
            values["max.in.flight.requests.per.connection"] > MAX_IN_FLIGHT_WITH_IDEMPOTENCE,
            f"max.in.flight.requests.per.connection > {MAX_IN_FLIGHT_WITH_IDEMPOTENCE}",
        ),
    ]
    found = [text for present, text in obstacles if present]
    if found and (requested or values["transactional.id"] is not None):
        raise ConfigError(f"enable.idempotence=true cannot be combined with {found[0]}")
    return bool(requested) if requested is not None else not found


def _max_batch_size(values: Mapping[str, Any], config: Mapping[str, object]) -> int:
    """Returns the limit of a batch: batch.size if the user set it, else a larger one."""
    batch_size = max(int(values["batch.size"]), 1)
    if "batch.size" in PRODUCER_KEYS.given(config):
        return batch_size
    # A fraction of the memory, so that several batches fit.
    largest = min(ADAPTIVE_BATCH_BYTES, values["max.request.size"], values["buffer.memory"] // 8)
    return max(int(largest), batch_size)


def _level(values: Mapping[str, Any], codec: Codec, config: Mapping[str, object]) -> int | None:
    """Returns the configured level; None selects the codec's default."""
    if codec not in (Codec.GZIP, Codec.LZ4, Codec.ZSTD):
        return None
    name = f"compression.{codec.name.lower()}.level"
    return int(values[name]) if name in PRODUCER_KEYS.given(config) else None


def _tracing(values: Mapping[str, Any]) -> tuple[Any, ...]:
    """Returns the interceptor that creates spans, if tracing is on."""
    tracing = tracing_module(values)
    return () if tracing is None else (tracing.ProducerTracing(values["client.id"]),)
