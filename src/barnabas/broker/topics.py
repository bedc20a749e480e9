"""Creates, extends, deletes and configures topics for the handlers.

Assigns replicas, checks values, writes with `controller.topic_admin`, and waits until the
controller's commands have updated this broker's metadata. Errors are BrokerErrors with Kafka's
codes.
"""

import asyncio
import random
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from barnabas.broker.config_layers import ConfigLayers
from barnabas.broker.handler import Charge, free_of_charge
from barnabas.broker.metadata_cache import MetadataCache
from barnabas.controller.machines.assignment import (
    BrokerRack,
    PlacementStart,
    place_added_partitions,
    place_replicas,
)
from barnabas.controller.topic_admin import TopicAdmin
from barnabas.model.config import did_you_mean
from barnabas.model.config_keys.topic import TOPIC_KEYS
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BrokerError, ConfigError
from barnabas.model.ids import BrokerId, Replicas, Uuid, collides, topic_name_problem
from barnabas.zk.paths import config_entity

DEFAULT = -1
# The topic's node of 1 MB cannot contain more; checked before a list of that size is built.
_MAX_PARTITIONS = 100_000
# The controller removes the nodes of a deleted topic within milliseconds.
_TREE_POLL_S = 0.005


@dataclass(frozen=True, slots=True)
class TopicSpec:
    """A topic to create. `assignment` excludes `partitions` and `replication_factor`."""

    name: str
    partitions: int = DEFAULT
    replication_factor: int = DEFAULT
    assignment: Mapping[int, Replicas] = field(default_factory=dict)
    configs: Mapping[str, str | None] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class TopicCreation:
    """The created topic; with `validate_only`, the topic that would be created, without an id."""

    topic_id: Uuid | None
    partitions: int
    replication_factor: int
    configs: Mapping[str, str]


class Topics:
    """Creates, deletes, extends and configures topics. Owned by the broker's loop."""

    def __init__(
        self,
        admin: TopicAdmin,
        metadata: MetadataCache,
        layers: ConfigLayers,
        dice: random.Random,
        reload_config: Callable[[str], Awaitable[None]],
    ) -> None:
        self._admin = admin
        self._metadata = metadata
        self._layers = layers
        self._dice = dice
        self._reload_config = reload_config
        self._waiting: list[tuple[Callable[[], bool], asyncio.Future[None]]] = []

    # --- topics ----------------------------------------------------------------------------

    async def create(
        self, topic: TopicSpec, *, validate_only: bool = False, charge: Charge = free_of_charge
    ) -> TopicCreation:
        """Checks and writes a topic; call `wait_for_leaders` to wait for its leaders."""
        self._check_name(topic.name)
        configs = check_topic_configs(topic.configs)
        assignment = self._assign(topic)
        charge(len(assignment))
        topic_id = None
        if not validate_only:
            await asyncio.sleep(0)  # many partitions take milliseconds in each step
            topic_id = await self._admin.create_topic(topic.name, assignment, configs)
        return TopicCreation(topic_id, len(assignment), len(assignment[0]), configs)

    async def delete(self, name: str, charge: Charge = free_of_charge) -> None:
        if not self._layers.broker_value("delete.topic.enable"):
            raise BrokerError(ErrorCode.TOPIC_DELETION_DISABLED)
        partitions = self._metadata.partitions(name)
        if partitions is not None:
            charge(len(partitions))
        await self._admin.delete_topic(name)

    async def add_partitions(
        self,
        name: str,
        total: int,
        assignments: Sequence[Replicas] | None = None,
        *,
        validate_only: bool = False,
        charge: Charge = free_of_charge,
    ) -> None:
        """Increases the number of partitions of a topic to `total`."""
        known = await self._admin.partitions_of(name)
        existing = {number: item.replicas for number, item in known.items()}
        await asyncio.sleep(0)
        if total <= len(existing):
            text = f"topic {name} already has {len(existing)} partitions"
            raise BrokerError(ErrorCode.INVALID_PARTITIONS, text)
        if total > _MAX_PARTITIONS:
            raise BrokerError(
                ErrorCode.INVALID_PARTITIONS, f"a topic has at most {_MAX_PARTITIONS} partitions"
            )
        if assignments is None:
            added = place_added_partitions(self._racks(), existing, total)
        else:
            added = self._manual_additions(existing, total, assignments)
        charge(len(added))
        if not validate_only:
            await asyncio.sleep(0)
            await self._admin.add_partitions(name, added)

    async def change_config(self, kind: str, name: str, values: Mapping[str, str]) -> None:
        """Writes settings of an entity; this broker uses them on return, the others soon after."""
        await self._admin.change_config(kind, name, values)
        await self._reload_config(config_entity(kind, name))

    async def read_config(self, kind: str, name: str) -> dict[str, str]:
        return await self._admin.read_config(kind, name)

    # --- waiting ---------------------------------------------------------------------------

    def metadata_changed(self) -> None:
        """Completes the waits whose condition is fulfilled; called after a controller command."""
        still = []
        for predicate, future in self._waiting:
            if future.done():
                continue
            if predicate():
                future.set_result(None)
            else:
                still.append((predicate, future))
        self._waiting = still

    async def wait_for_leaders(self, name: str, partitions: int, timeout_ms: float) -> None:
        """Waits until this many partitions have a leader; raises REQUEST_TIMED_OUT."""
        await self._wait(lambda: self._has_leaders(name, partitions), timeout_ms)

    async def wait_for_broker(self, broker_id: BrokerId, timeout_ms: float) -> None:
        """Waits until the controller has announced this broker as live."""
        await self._wait(lambda: self._metadata.is_alive(broker_id), timeout_ms)

    async def wait_until_gone(self, name: str, topic_id: Uuid, timeout_ms: float) -> None:
        """Waits until the name of a deleted topic is free, or belongs to a new topic.

        Brokers remove a topic from their metadata before its nodes are removed; until then the
        topic cannot be created again. A metadata request may recreate the topic immediately.
        """
        deadline = asyncio.get_running_loop().time() + timeout_ms / 1000
        await self._wait(lambda: self._metadata.topic_id(name) != topic_id, timeout_ms)
        while self._metadata.topic_id(name) in (None, topic_id) and await self._admin.exists(name):
            if asyncio.get_running_loop().time() > deadline:
                raise BrokerError(ErrorCode.REQUEST_TIMED_OUT)
            await asyncio.sleep(_TREE_POLL_S)

    async def _wait(self, predicate: Callable[[], bool], timeout_ms: float) -> None:
        if predicate():
            return
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append((predicate, future))
        try:
            await asyncio.wait_for(future, max(timeout_ms, 0) / 1000)
        except TimeoutError:
            raise BrokerError(ErrorCode.REQUEST_TIMED_OUT) from None

    def _has_leaders(self, name: str, partitions: int) -> bool:
        known = self._metadata.partitions(name) or {}
        return len(known) >= partitions and all(state.leader >= 0 for state in known.values())

    # --- checks and placement --------------------------------------------------------------

    def _check_name(self, name: str) -> None:
        problem = topic_name_problem(name)
        if problem is not None:
            raise BrokerError(ErrorCode.INVALID_TOPIC_EXCEPTION, problem)
        if self._metadata.has_topic(name):
            raise BrokerError(ErrorCode.TOPIC_ALREADY_EXISTS, f"topic {name} already exists")
        if "." in name or "_" in name:
            other = next((known for known in self._metadata.topics() if collides(known, name)), "")
            if other:
                text = f"topic {name} collides with {other}: '.' and '_' are equal in metric names"
                raise BrokerError(ErrorCode.INVALID_TOPIC_EXCEPTION, text)

    def _assign(self, topic: TopicSpec) -> Mapping[int, Replicas]:
        if topic.assignment:
            if (topic.partitions, topic.replication_factor) != (DEFAULT, DEFAULT):
                text = "an assignment excludes the number of partitions and the replication factor"
                raise BrokerError(ErrorCode.INVALID_REQUEST, text)
            self._check_brokers(topic.assignment.values())
            return topic.assignment
        partitions, factor = topic.partitions, topic.replication_factor
        if partitions == DEFAULT:
            partitions = self._layers.broker_value("num.partitions")
        if factor == DEFAULT:
            factor = self._layers.broker_value("default.replication.factor")
        if partitions > _MAX_PARTITIONS:
            raise BrokerError(
                ErrorCode.INVALID_PARTITIONS, f"a topic has at most {_MAX_PARTITIONS} partitions"
            )
        brokers = self._racks()
        count = max(len(brokers), 1)
        start = PlacementStart(self._dice.randrange(count), self._dice.randrange(count))
        return place_replicas(brokers, partitions, factor, start)

    def _manual_additions(
        self, existing: Mapping[int, Replicas], total: int, assignments: Sequence[Replicas]
    ) -> dict[int, Replicas]:
        if len(assignments) != total - len(existing):
            text = f"{total - len(existing)} new partitions, but {len(assignments)} assignments"
            raise BrokerError(ErrorCode.INVALID_REPLICA_ASSIGNMENT, text)
        if any(len(replicas) != len(existing[0]) for replicas in assignments):
            text = f"every partition needs {len(existing[0])} replicas, like the existing ones"
            raise BrokerError(ErrorCode.INVALID_REPLICA_ASSIGNMENT, text)
        self._check_brokers(assignments)
        return dict(enumerate(assignments, start=len(existing)))

    def _check_brokers(self, assignments: Iterable[Replicas]) -> None:
        for replicas in assignments:
            unknown = [b for b in replicas if not self._metadata.is_alive(BrokerId(b))]
            if unknown:
                text = f"brokers {unknown} are not live"
                raise BrokerError(ErrorCode.INVALID_REPLICA_ASSIGNMENT, text)

    def _racks(self) -> list[BrokerRack]:
        return [BrokerRack(b.broker_id, b.rack) for b in self._metadata.brokers()]


def check_topic_configs(given: Mapping[str, str | None]) -> dict[str, str]:
    """Returns the topic configuration in its stored form; raises INVALID_CONFIG."""
    checked = {}
    for name, value in given.items():
        if value is None:
            raise BrokerError(ErrorCode.INVALID_CONFIG, f"{name} needs a value")
        if name not in TOPIC_KEYS:
            hint = did_you_mean(name, (key.name for key in TOPIC_KEYS))
            text = f"unknown topic configuration {name!r}{hint}"
            raise BrokerError(ErrorCode.INVALID_CONFIG, text)
        try:
            TOPIC_KEYS[name].parse(value)
        except ConfigError as error:
            raise BrokerError(ErrorCode.INVALID_CONFIG, str(error)) from None
        checked[name] = value
    check_compaction_lags(checked)
    return checked


def check_compaction_lags(values: Mapping[str, str]) -> None:
    """Raises INVALID_CONFIG if the minimum compaction lag exceeds the maximum."""
    low, high = (
        TOPIC_KEYS[name].parse(values[name]) if name in values else TOPIC_KEYS[name].default
        for name in ("min.compaction.lag.ms", "max.compaction.lag.ms")
    )
    if low > high:
        text = f"min.compaction.lag.ms={low} is greater than max.compaction.lag.ms={high}"
        raise BrokerError(ErrorCode.INVALID_CONFIG, text)
