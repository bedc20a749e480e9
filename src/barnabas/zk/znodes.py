"""The contents of Kafka's cluster nodes, as values and as JSON.

One value class with `encode` and `decode` per kind of node. Encoding writes the newest version
that Kafka 3.x writes; decoding reads all older ones. The field order is Kafka's, so that equal
values have equal bytes. `config_znodes` has the configuration nodes.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Self

from barnabas.model.control import Endpoint, LeaderRecoveryState, LiveBroker
from barnabas.model.errors import ProtocolError
from barnabas.model.ids import (
    ZERO_UUID,
    BrokerId,
    ReplicaAssignment,
    Replicas,
    TopicPartition,
    Uuid,
)


def encode_json(value: Mapping[str, object]) -> bytes:
    """Returns compact JSON with the keys in the given order."""
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode()


def decode_json(data: bytes) -> dict[str, Any]:
    """A JSON object; ProtocolError for anything else."""
    try:
        value = json.loads(data)
    except ValueError as error:
        raise ProtocolError(f"a node is not JSON: {data[:80]!r}") from error
    if not isinstance(value, dict):
        raise ProtocolError(f"a node is not a JSON object: {data[:80]!r}")
    return value


@dataclass(frozen=True, slots=True)
class ClusterIdNode:
    """The node /cluster/id. The version is a string, as Kafka has it."""

    cluster_id: str

    def encode(self) -> bytes:
        return encode_json({"version": "1", "id": self.cluster_id})

    @classmethod
    def decode(cls, data: bytes) -> Self:
        return cls(str(decode_json(data)["id"]))


@dataclass(frozen=True, slots=True)
class BrokerNode:
    """The node /brokers/ids/N, version 5; host and port repeat the first PLAINTEXT endpoint."""

    endpoints: tuple[Endpoint, ...]
    rack: str | None = None
    timestamp_ms: int = 0
    jmx_port: int = -1
    features: Mapping[str, Any] = field(default_factory=dict)

    def encode(self) -> bytes:
        plain = next((e for e in self.endpoints if e.security_protocol == "PLAINTEXT"), None)
        value: dict[str, object] = {
            "version": 5,
            "host": plain.host if plain else None,
            "port": plain.port if plain else -1,
            "endpoints": [_endpoint_text(e) for e in self.endpoints],
            "listener_security_protocol_map": {
                e.listener: e.security_protocol for e in self.endpoints
            },
            "jmx_port": self.jmx_port,
            "timestamp": str(self.timestamp_ms),
            "features": self.features,
        }
        if self.rack is not None:
            value["rack"] = self.rack
        return encode_json(value)

    @classmethod
    def decode(cls, data: bytes) -> Self:
        value = decode_json(data)
        if value["version"] >= 2:
            protocols = value.get("listener_security_protocol_map", {})
            endpoints = tuple(_parse_endpoint(text, protocols) for text in value["endpoints"])
        else:
            endpoints = (Endpoint("PLAINTEXT", value["host"], value["port"]),)
        return cls(
            endpoints,
            value.get("rack"),
            int(value.get("timestamp", 0)),
            int(value.get("jmx_port", -1)),
            value.get("features", {}),
        )

    def live(self, broker_id: int, broker_epoch: int) -> LiveBroker:
        """Returns the form of the broker that the controller's commands contain."""
        return LiveBroker(BrokerId(broker_id), self.endpoints, self.rack, broker_epoch)


def _endpoint_text(endpoint: Endpoint) -> str:
    host = f"[{endpoint.host}]" if ":" in endpoint.host else endpoint.host
    return f"{endpoint.listener}://{host}:{endpoint.port}"


def _parse_endpoint(text: str, protocols: Mapping[str, str]) -> Endpoint:
    listener, _, address = text.partition("://")
    host, _, port = address.rpartition(":")
    protocol = protocols.get(listener, listener)
    return Endpoint(listener, host.strip("[]"), int(port), protocol)


def assignments_of(replicas: Mapping[int, Replicas]) -> dict[int, ReplicaAssignment]:
    """Returns assignments without a reassignment; partitions with the same replicas share one.

    A topic may have 10,000 partitions on a few brokers.
    """
    shared = {each: ReplicaAssignment(each) for each in set(replicas.values())}
    return {number: shared[each] for number, each in replicas.items()}


@dataclass(frozen=True, slots=True)
class TopicNode:
    """The node /brokers/topics/T, version 3."""

    topic_id: Uuid
    partitions: Mapping[int, ReplicaAssignment]

    def encode(self) -> bytes:
        # JSON has the numbers as strings and the tuples as lists, without copies made here.
        ordered = sorted(self.partitions.items())
        return encode_json(
            {
                "version": 3,
                "topic_id": str(self.topic_id),
                "partitions": {p: a.replicas for p, a in ordered},
                "adding_replicas": {p: a.adding for p, a in ordered if a.adding},
                "removing_replicas": {p: a.removing for p, a in ordered if a.removing},
            }
        )

    @classmethod
    def decode(cls, data: bytes) -> Self:
        """Decodes a node; version 1 or 2 has no topic id, so it is ZERO_UUID."""
        value = decode_json(data)
        adding, removing = value.get("adding_replicas", {}), value.get("removing_replicas", {})
        stored = {int(p): tuple(replicas) for p, replicas in value["partitions"].items()}
        partitions = assignments_of(stored)
        for p in {*adding, *removing}:
            number = int(p)
            if number in stored:
                partitions[number] = ReplicaAssignment(
                    stored[number], tuple(adding.get(p, ())), tuple(removing.get(p, ()))
                )
        topic_id = value.get("topic_id")
        return cls(Uuid.parse(topic_id) if topic_id else ZERO_UUID, partitions)


@dataclass(frozen=True, slots=True)
class PartitionStateNode:
    """The node /brokers/topics/T/partitions/P/state; the node's version is the partition epoch."""

    leader: BrokerId
    leader_epoch: int
    isr: Replicas
    controller_epoch: int
    recovery: LeaderRecoveryState = LeaderRecoveryState.RECOVERED

    def encode(self) -> bytes:
        value: dict[str, object] = {
            "controller_epoch": self.controller_epoch,
            "leader": self.leader,
            "version": 1,
            "leader_epoch": self.leader_epoch,
            "isr": list(self.isr),
        }
        if self.recovery is not LeaderRecoveryState.RECOVERED:
            value["leader_recovery_state"] = int(self.recovery)
        return encode_json(value)

    @classmethod
    def decode(cls, data: bytes) -> Self:
        value = decode_json(data)
        return cls(
            BrokerId(value["leader"]),
            value["leader_epoch"],
            tuple(value["isr"]),
            value["controller_epoch"],
            LeaderRecoveryState(value.get("leader_recovery_state", 0)),
        )


@dataclass(frozen=True, slots=True)
class ControllerNode:
    """The node /controller."""

    broker_id: BrokerId
    timestamp_ms: int

    def encode(self) -> bytes:
        return encode_json(
            {
                "version": 2,
                "brokerid": self.broker_id,
                "timestamp": str(self.timestamp_ms),
                "kraftControllerEpoch": -1,
            }
        )

    @classmethod
    def decode(cls, data: bytes) -> Self:
        value = decode_json(data)
        return cls(BrokerId(value["brokerid"]), int(value.get("timestamp", 0)))


def encode_epoch(epoch: int) -> bytes:
    """The node /controller_epoch is plain decimal text."""
    return str(epoch).encode()


def decode_epoch(data: bytes) -> int:
    return int(data)


@dataclass(frozen=True, slots=True)
class PartitionListNode:
    """The node /admin/preferred_replica_election and the isr change notifications."""

    partitions: tuple[TopicPartition, ...]

    def encode(self) -> bytes:
        listed = [
            {"topic": topic_partition.topic, "partition": topic_partition.partition}
            for topic_partition in self.partitions
        ]
        return encode_json({"version": 1, "partitions": listed})

    @classmethod
    def decode(cls, data: bytes) -> Self:
        listed = decode_json(data)["partitions"]
        return cls(tuple(TopicPartition(e["topic"], int(e["partition"])) for e in listed))


@dataclass(frozen=True, slots=True)
class ReassignPartitionsNode:
    """The node /admin/reassign_partitions: the request of tools older than KIP-455."""

    partitions: Mapping[TopicPartition, Replicas]

    def encode(self) -> bytes:
        listed = [
            {
                "topic": topic_partition.topic,
                "partition": topic_partition.partition,
                "replicas": list(replicas),
            }
            for topic_partition, replicas in self.partitions.items()
        ]
        return encode_json({"version": 1, "partitions": listed})

    @classmethod
    def decode(cls, data: bytes) -> Self:
        listed: Iterable[dict[str, Any]] = decode_json(data)["partitions"]
        return cls(
            {TopicPartition(e["topic"], int(e["partition"])): tuple(e["replicas"]) for e in listed}
        )


@dataclass(frozen=True, slots=True)
class LogDirEventNode:
    """A log directory of a broker has failed."""

    broker_id: BrokerId
    event: int = 1

    def encode(self) -> bytes:
        return encode_json({"version": 1, "broker": self.broker_id, "event": self.event})

    @classmethod
    def decode(cls, data: bytes) -> Self:
        value = decode_json(data)
        return cls(BrokerId(value["broker"]), value["event"])


@dataclass(frozen=True, slots=True)
class ProducerIdBlockNode:
    """The node /latest_producer_id_block; both ends inclusive, numbers as strings."""

    broker_id: BrokerId
    first: int
    last: int

    def encode(self) -> bytes:
        return encode_json(
            {
                "version": 1,
                "broker": self.broker_id,
                "block_start": str(self.first),
                "block_end": str(self.last),
            }
        )

    @classmethod
    def decode(cls, data: bytes) -> Self:
        value = decode_json(data)
        return cls(BrokerId(value["broker"]), int(value["block_start"]), int(value["block_end"]))


# --- nodes of the old consumer -------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ConsumerNode:
    """The node /consumers/G/ids/ID: topics with their numbers of streams.

    `pattern` is `static`, or `white_list`/`black_list` with the filter as the only topic.
    """

    subscription: Mapping[str, int]
    pattern: str = "static"
    timestamp_ms: int = 0

    def encode(self) -> bytes:
        return encode_json(
            {
                "version": 1,
                "subscription": dict(self.subscription),
                "pattern": self.pattern,
                "timestamp": str(self.timestamp_ms),
            }
        )

    @classmethod
    def decode(cls, data: bytes) -> Self:
        value = decode_json(data)
        subscription = {str(topic): int(n) for topic, n in value["subscription"].items()}
        return cls(subscription, str(value["pattern"]), int(value.get("timestamp", 0)))


def encode_owner(thread_id: str) -> bytes:
    return thread_id.encode()


def decode_owner(data: bytes) -> str:
    return data.decode()


def encode_offset(offset: int) -> bytes:
    return str(offset).encode()


def decode_offset(data: bytes) -> int:
    return int(data)
