"""Runs the operations of one group coordinator shard."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from barnabas.broker.coordinators.shard_runtime import (
    ReplyReceiver,
    RuntimeSettings,
    SettleOn,
    ShardRuntime,
)
from barnabas.coordination.outcome import CoordinatorRecord
from barnabas.groups.step import GroupOutcome
from barnabas.groups.timers import TimerKey
from barnabas.model.error_codes import ErrorCode
from barnabas.replication.partition import Partition

if TYPE_CHECKING:
    from barnabas.groups.coordinator import GroupCoordinatorShard

GroupOperation = Callable[["GroupCoordinatorShard", int], GroupOutcome]
"""`operation(shard, now_ms)`."""


class GroupShardDriver:
    """One shard for one leader epoch of its partition; owned by the broker's loop.

    No other operation runs between a step and its settlement: replies that wait for the high
    watermark are sent in separate callbacks of the loop (see `CommitGate`).
    """

    def __init__(
        self, shard: "GroupCoordinatorShard", partition: Partition, settings: RuntimeSettings
    ) -> None:
        self.shard = shard
        self._runtime = ShardRuntime(shard, partition, settings, SettleOn.APPEND, self._on_timer)

    # --- loading and unloading (ShardDriver) ---

    def replay(self, key: bytes, value: bytes | None, producer_id: int) -> None:
        self.shard.replay(CoordinatorRecord(key, value), producer_id)

    def replay_marker(self, producer_id: int, *, commit: bool) -> None:
        self.shard.end_transaction(producer_id, commit=commit)

    def activate(self) -> None:
        self.run(lambda shard, now_ms: shard.loaded(now_ms))

    def resign(self) -> None:
        self._runtime.close(ErrorCode.NOT_COORDINATOR)
        self._runtime.execute(self.shard.unload())
        self._runtime.fail_parked(ErrorCode.NOT_COORDINATOR)

    # --- serving ---

    def run(self, operation: GroupOperation, receiver: ReplyReceiver | None = None) -> bool:
        """Runs one operation; `receiver` gets its reply, now or later.

        Returns:
            Whether the operation wrote records.
        """
        before = self._runtime.gate.required_offset
        self._runtime.execute(operation(self.shard, self._runtime.now_ms()), receiver)
        return self._runtime.gate.required_offset > before

    def read(self, release: Callable[[ErrorCode], None]) -> None:
        """Calls `release` once the whole state of this shard is committed."""
        self._runtime.gate.run_when_committed(release)

    def marker_appended(self, producer_id: int, end_offset: int, *, commit: bool) -> None:
        """Applies a transaction marker that was appended to this partition."""
        self._runtime.gate.wrote_up_to(end_offset)
        self.shard.end_transaction(producer_id, commit=commit)

    def _on_timer(self, key: TimerKey) -> None:
        self.run(lambda shard, now_ms: shard.on_timer(key, now_ms))
