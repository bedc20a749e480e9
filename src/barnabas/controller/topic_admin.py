"""Writes that create, extend, delete and configure topics; any broker may make them.

No leader is elected here and no broker is notified directly: the active controller watches the
nodes and acts on them, and brokers read configuration changes from /config/changes.
"""

import asyncio
import secrets
from collections.abc import Mapping

from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BrokerError
from barnabas.model.ids import (
    ZERO_UUID,
    ReplicaAssignment,
    Replicas,
    TopicPartition,
    Uuid,
    topic_name_problem,
)
from barnabas.zk import paths
from barnabas.zk.config_znodes import ConfigChangeNode, ConfigNode
from barnabas.zk.recipes import write_if_unchanged
from barnabas.zk.tree import (
    BadVersionError,
    CreateOp,
    MetadataTree,
    MultiError,
    NodeExistsError,
    NodeTooLargeError,
    NoNodeError,
    Op,
    SetOp,
)
from barnabas.zk.znodes import TopicNode, assignments_of

# Another client may change the topic at the same time; each attempt reads it again.
_ATTEMPTS = 10
_MANY_PARTITIONS = 1_000
_RESERVED_IDS = frozenset({ZERO_UUID, Uuid(bytes(15) + b"\x01")})
"""The zero id means "no id"; the other is the metadata topic of KRaft clusters."""


def new_topic_id() -> Uuid:
    """Returns a random id that is not reserved and, as in Kafka, does not start with '-'."""
    while True:
        topic_id = Uuid.random(secrets.token_bytes)
        if topic_id not in _RESERVED_IDS and not str(topic_id).startswith("-"):
            return topic_id


class TopicAdmin:
    """Topic writes in one session. Raises BrokerError with Kafka's error codes."""

    def __init__(self, tree: MetadataTree) -> None:
        self._tree = tree

    async def create_topic(
        self,
        name: str,
        assignment: Mapping[int, Replicas],
        configs: Mapping[str, str] | None = None,
        topic_id: Uuid | None = None,
    ) -> Uuid:
        """Writes a topic and its configuration in one step; returns the topic's id.

        `assignment` names the replicas of each partition from 0 on.
        """
        _check_new_topic(name, assignment)
        await _pause_if_many(assignment)
        topic_id = topic_id or new_topic_id()
        node = TopicNode(topic_id, assignments_of(assignment))
        await _pause_if_many(assignment)
        create = CreateOp(paths.topic(name), node.encode())
        for _ in range(_ATTEMPTS):
            # The configuration node can exist without its topic: Kafka's own tools write the two
            # nodes one after the other. So its operation depends on the tree and is made again
            # after a race.
            config_op = await self._put_config_op(paths.config("topics", name), configs or {})
            try:
                await self._tree.multi([config_op, create])
            except MultiError as error:
                _raise_unless_raced(name, error)
            else:
                return topic_id
        raise BrokerError(
            ErrorCode.REQUEST_TIMED_OUT, f"the configuration of topic {name} keeps changing"
        )

    async def delete_topic(self, name: str) -> None:
        """Requests the deletion of a topic; repeating the request has no effect."""
        if await self._tree.exists(paths.topic(name)) is None:
            raise _unknown(name)
        try:
            await self._tree.create(paths.delete_topic(name))
        except NodeExistsError:
            return

    async def add_partitions(self, name: str, added: Mapping[int, Replicas]) -> None:
        """Adds partitions; their numbers must continue the existing ones without a gap."""
        for _ in range(_ATTEMPTS):
            data, version = await self._topic(name)
            node = TopicNode.decode(data)
            await _pause_if_many(node.partitions)
            _check_added(name, node, added)
            grown = TopicNode(node.topic_id, {**node.partitions, **assignments_of(added)})
            await _pause_if_many(grown.partitions)
            try:
                await self._tree.set(paths.topic(name), grown.encode(), version)
            except BadVersionError:
                continue
            except NoNodeError as error:
                raise _unknown(name) from error
            except NodeTooLargeError as error:
                text = f"{len(grown.partitions)} partitions exceed the size limit of a topic node"
                raise BrokerError(ErrorCode.INVALID_PARTITIONS, text) from error
            return
        raise BrokerError(ErrorCode.REQUEST_TIMED_OUT, f"topic {name} keeps changing")

    async def read_config(self, kind: str, name: str) -> dict[str, str]:
        """Returns the configuration of an entity; empty if it has none."""
        return await self._read_config(paths.config(kind, name))

    async def change_config(self, kind: str, name: str, values: Mapping[str, str]) -> None:
        """Replaces the configuration of an entity and notifies all brokers, in one multi.

        `kind` is `topics`, `brokers`, `clients`, `users` or `ips`.
        """
        await self.change_entity(paths.config_entity(kind, name), values)

    async def change_entity(self, entity_path: str, values: Mapping[str, str]) -> None:
        """Like `change_config`, for an entity path such as `users/alice/clients/etl`."""
        path = f"/config/{entity_path}"
        for _ in range(_ATTEMPTS):
            ops = [
                await self._put_config_op(path, values),
                CreateOp(
                    paths.CONFIG_CHANGE_PREFIX,
                    ConfigChangeNode(entity_path).encode(),
                    sequential=True,
                ),
            ]
            if await write_if_unchanged(self._tree, ops):
                return
        raise BrokerError(ErrorCode.REQUEST_TIMED_OUT, f"{entity_path} keeps changing")

    async def exists(self, name: str) -> bool:
        """Returns whether the metadata tree has a node of the topic; does not read its contents."""
        return await self._tree.exists(paths.topic(name)) is not None

    async def partitions_of(self, name: str) -> Mapping[int, ReplicaAssignment]:
        """Returns the assignment stored in the metadata tree."""
        data, _ = await self._topic(name)
        return TopicNode.decode(data).partitions

    async def _topic(self, name: str) -> tuple[bytes, int]:
        try:
            data, stat = await self._tree.get(paths.topic(name))
        except NoNodeError as error:
            raise _unknown(name) from error
        return data, stat.version

    async def _read_config(self, path: str) -> dict[str, str]:
        try:
            data, _ = await self._tree.get(path)
        except NoNodeError:
            return {}
        return dict(ConfigNode.decode(data).values)

    async def _put_config_op(self, path: str, values: Mapping[str, str]) -> Op:
        data = ConfigNode(values).encode()
        if await self._tree.exists(path) is not None:
            return SetOp(path, data)
        parent = path.rpartition("/")[0]
        if await self._tree.exists(parent) is None:
            await self._tree.ensure_path(parent)
        return CreateOp(path, data)


async def _pause_if_many(partitions: Mapping[int, object]) -> None:
    """Lets other callbacks run between two steps on a topic of thousands of partitions.

    Each step takes milliseconds then. Writes are conditional, so the node may change meanwhile.
    """
    if len(partitions) > _MANY_PARTITIONS:
        await asyncio.sleep(0)


def _raise_unless_raced(name: str, error: MultiError) -> None:
    """Raises the reason of a failed creation; returns after a race for the configuration node."""
    if isinstance(error.cause, NodeTooLargeError):
        text = f"the partitions of topic {name} exceed the size limit of a topic node"
        raise BrokerError(ErrorCode.INVALID_PARTITIONS, text) from error
    if isinstance(error.operation, CreateOp) and error.operation.path == paths.topic(name):
        if isinstance(error.cause, NodeExistsError):
            raise _exists(name) from error
        raise error.cause from error
    if not isinstance(error.cause, NodeExistsError | NoNodeError):
        raise error.cause from error


def _check_new_topic(name: str, assignment: Mapping[int, Replicas]) -> None:
    problem = topic_name_problem(name)
    if problem is not None:
        raise BrokerError(ErrorCode.INVALID_TOPIC_EXCEPTION, problem)
    if not assignment:
        raise BrokerError(ErrorCode.INVALID_PARTITIONS, "a topic has at least one partition")
    if sorted(assignment) != list(range(len(assignment))):
        text = f"partitions must be numbered from 0 without gaps, not {sorted(assignment)}"
        raise BrokerError(ErrorCode.INVALID_REPLICA_ASSIGNMENT, text)
    for partition, replicas in assignment.items():
        _check_replicas(name, partition, replicas)
    if len({len(replicas) for replicas in assignment.values()}) != 1:
        text = "all partitions of a topic must have the same number of replicas"
        raise BrokerError(ErrorCode.INVALID_REPLICA_ASSIGNMENT, text)


def _check_added(name: str, node: TopicNode, added: Mapping[int, Replicas]) -> None:
    first = len(node.partitions)
    if any(assignment.is_reassigning for assignment in node.partitions.values()):
        text = f"topic {name} is being reassigned"
        raise BrokerError(ErrorCode.REASSIGNMENT_IN_PROGRESS, text)
    if sorted(added) != list(range(first, first + len(added))) or not added:
        text = f"topic {name} has {first} partitions; {sorted(added)} do not follow"
        raise BrokerError(ErrorCode.INVALID_PARTITIONS, text)
    for partition, replicas in added.items():
        _check_replicas(name, partition, replicas)


def _check_replicas(topic: str, partition: int, replicas: Replicas) -> None:
    if not replicas or len(set(replicas)) != len(replicas) or min(replicas) < 0:
        which = TopicPartition(topic, partition)
        text = f"{which}: replicas must be distinct broker ids, not {list(replicas)}"
        raise BrokerError(ErrorCode.INVALID_REPLICA_ASSIGNMENT, text)


def _exists(name: str) -> BrokerError:
    return BrokerError(ErrorCode.TOPIC_ALREADY_EXISTS, f"topic {name} already exists")


def _unknown(name: str) -> BrokerError:
    return BrokerError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"there is no topic {name}")
