"""Runs the operations of one transaction coordinator shard: producer ids, markers, its timer."""

import asyncio
import logging
from collections.abc import Callable, Mapping, Set
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol

from barnabas.broker.coordinators.shard_runtime import (
    ReplyReceiver,
    RuntimeSettings,
    SettleOn,
    ShardRuntime,
)
from barnabas.broker.producer_ids import ProducerIds
from barnabas.coordination.outcome import CoordinatorOutcome, SendMarkers
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BarnabasError
from barnabas.model.ids import TopicPartition
from barnabas.replication.partition import Partition

if TYPE_CHECKING:
    from barnabas.transactions.shard import TransactionCoordinatorShard

_logger = logging.getLogger("barnabas.broker")
_SCAN = "scan"

TransactionOperation = Callable[
    ["TransactionCoordinatorShard", int, int | None], CoordinatorOutcome[Any]
]
"""`operation(shard, now_ms, new_producer_id)`."""

MarkersWritten = Callable[[Mapping[TopicPartition, ErrorCode], Set[TopicPartition]], None]
"""Receives the errors of some partitions, and the partitions that no longer exist."""


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
