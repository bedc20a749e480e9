"""The transaction coordinator of one broker: producer ids, shards of transactional ids.

Producer ids are unique in the cluster. A broker claims them in blocks, by a compare-and-set of
/latest_producer_id_block, so two brokers never allocate the same id. The unused ids of a block are
lost when the broker stops.
"""

import asyncio
import logging
from collections.abc import Callable, Mapping, Set
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol

from barnabas.broker.coordinators.internal_topics import InternalTopics
from barnabas.broker.coordinators.shard_host import Coordinator, ShardHost
from barnabas.broker.coordinators.shard_runtime import (
    ReplyReceiver,
    RuntimeSettings,
    SettleOn,
    ShardRuntime,
)
from barnabas.coordination import CoordinatorOutcome, SendMarkers
from barnabas.model.config import ConfigValues
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BarnabasError, BrokerError
from barnabas.model.ids import TRANSACTIONS_TOPIC, BrokerId, TopicPartition
from barnabas.replication.partition import Partition
from barnabas.transactions.requests import TransactionConfig, TransactionStats
from barnabas.zk import paths
from barnabas.zk.tree import BadVersionError, MetadataTree
from barnabas.zk.znodes import ProducerIdBlockNode

if TYPE_CHECKING:
    from barnabas.transactions.shard import TransactionCoordinatorShard

# Kafka's size: one write to the metadata tree per thousand producer ids.
BLOCK_SIZE = 1000
_LAST_ID = 2**63 - 1
_logger = logging.getLogger("barnabas.broker")
_SCAN = "scan"
TransactionOperation = Callable[
    ["TransactionCoordinatorShard", int, int | None], CoordinatorOutcome[Any]
]
"""`operation(shard, now_ms, new_producer_id)`."""
MarkersWritten = Callable[[Mapping[TopicPartition, ErrorCode], Set[TopicPartition]], None]
"""Receives the errors of some partitions, and the partitions that no longer exist."""


class ProducerIds:
    """Allocates ids; owned by the broker's loop."""

    def __init__(self, tree: MetadataTree, broker_id: BrokerId) -> None:
        self._tree = tree
        self._broker_id = broker_id
        self._next = 0
        self._last = -1
        self._claiming = asyncio.Lock()

    def try_next(self) -> int | None:
        """Returns an id of the current block, or None if a new block is needed."""
        if self._next > self._last:
            return None
        self._next += 1
        return self._next - 1

    async def next(self) -> int:
        """Returns an id; claims a new block if necessary."""
        async with self._claiming:
            if (producer_id := self.try_next()) is not None:
                return producer_id
            self._next, self._last = await self._claim()
            producer_id = self.try_next()
            if producer_id is None:
                raise AssertionError("a fresh block is empty")
            return producer_id

    async def _claim(self) -> tuple[int, int]:
        while True:
            data, stat = await self._tree.get(paths.LATEST_PRODUCER_ID_BLOCK)
            first = ProducerIdBlockNode.decode(data).last + 1 if data else 0
            if first > _LAST_ID - BLOCK_SIZE:
                raise BrokerError(ErrorCode.UNKNOWN_SERVER_ERROR, "all producer ids are used")
            block = ProducerIdBlockNode(self._broker_id, first, first + BLOCK_SIZE - 1)
            try:
                await self._tree.set(
                    paths.LATEST_PRODUCER_ID_BLOCK, block.encode(), version=stat.version
                )
            except BadVersionError:
                continue  # another broker took this block
            return block.first, block.last


class MarkerDelivery(Protocol):
    """Sends markers to partition leaders. `written` receives every partition exactly once, in one
    call or several, also during `deliver`."""

    def deliver(self, send: SendMarkers, written: MarkersWritten) -> None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class TransactionSettings(RuntimeSettings):
    """The settings and services that all transaction shards of a broker share."""

    producer_ids: ProducerIds
    markers: MarkerDelivery


class TransactionShardDriver:
    """One shard for one leader epoch of its partition; owned by the broker's loop."""

    def __init__(
        self,
        shard: "TransactionCoordinatorShard",
        partition: Partition,
        settings: TransactionSettings,
    ) -> None:
        self.shard = shard
        self._settings = settings
        self._runtime = ShardRuntime(shard, partition, settings, SettleOn.COMMIT, self._on_timer)
        self._runtime.send_markers = self._deliver
        self._runtime.after_step = self._set_timer
        self._claims: set[asyncio.Task[None]] = set()

    # --- loading and unloading (ShardDriver) ---

    def replay(self, key: bytes, value: bytes | None, producer_id: int) -> None:
        self.shard.replay(key, value)

    def replay_marker(self, producer_id: int, *, commit: bool) -> None:
        """Does nothing: transactions do not write to this topic."""

    def activate(self) -> None:
        self._runtime.execute(self.shard.load_complete(self._now_ms()))

    def resign(self) -> None:
        self.shard.resign()
        self._runtime.close(ErrorCode.NOT_LEADER_OR_FOLLOWER)

    # --- serving ---

    def run(self, operation: TransactionOperation, receiver: ReplyReceiver) -> None:
        """Runs one operation; `receiver` gets its reply, now or later."""
        outcome = operation(self.shard, self._now_ms(), None)
        if not outcome.need_producer_id:
            self._runtime.execute(outcome, receiver)
            return
        producer_id = self._settings.producer_ids.try_next()
        if producer_id is not None:
            outcome = operation(self.shard, self._now_ms(), producer_id)
            self._runtime.execute(outcome, receiver)
        else:
            task = asyncio.get_running_loop().create_task(self._claim(operation, receiver))
            self._claims.add(task)
            task.add_done_callback(self._claims.discard)

    async def _claim(self, operation: TransactionOperation, receiver: ReplyReceiver) -> None:
        try:
            producer_id = await self._settings.producer_ids.next()
        except BarnabasError as error:
            _logger.warning("cannot allocate a producer id: %s", error)
            receiver.fail(ErrorCode.COORDINATOR_NOT_AVAILABLE)
            return
        self._runtime.execute(operation(self.shard, self._now_ms(), producer_id), receiver)

    def _now_ms(self) -> int:
        return self._runtime.now_ms()

    def _deliver(self, send: SendMarkers) -> None:
        self._settings.markers.deliver(send, partial(self._written, send))

    def _written(
        self,
        send: SendMarkers,
        results: Mapping[TopicPartition, ErrorCode],
        deleted: Set[TopicPartition],
    ) -> None:
        self._runtime.execute(self.shard.markers_written(send, results, self._now_ms(), deleted))

    def _set_timer(self) -> None:
        at_ms = None if self._runtime.closed else self.shard.next_timer_ms
        if at_ms is not None:
            self._runtime.timers.set(_SCAN, at_ms - self._now_ms())

    def _on_timer(self, _key: str) -> None:
        self._runtime.execute(self.shard.on_timer(self._now_ms()))


class TransactionCoordinator(Coordinator[TransactionShardDriver]):
    """Coordinator of the ids whose partition of the transactions topic this broker leads."""

    def __init__(
        self, values: ConfigValues, topics: InternalTopics, settings: TransactionSettings
    ) -> None:
        buffer_bytes = values["transaction.state.log.load.buffer.size"]
        super().__init__(topics, ShardHost(TRANSACTIONS_TOPIC, buffer_bytes, self._make))
        self._config = TransactionConfig.from_values(values)
        self._settings = settings
        self.stats = TransactionStats()

    def run(
        self, transactional_id: str, operation: TransactionOperation, receiver: ReplyReceiver
    ) -> None:
        """Runs an operation on the id's shard; `receiver` gets the reply, now or later."""
        self.shard_of(transactional_id).run(operation, receiver)

    def now_ms(self) -> int:
        """Returns the time of the clock that transactions use."""
        return self._settings.steady.now_ms()

    def _make(self, partition: Partition) -> TransactionShardDriver:
        # Start-up time: a broker without transactions starts sooner.
        from barnabas.transactions.shard import TransactionCoordinatorShard

        shard = TransactionCoordinatorShard(partition.leader_epoch, self._config, stats=self.stats)
        return TransactionShardDriver(shard, partition, self._settings)
