"""What the replicas of a broker share, and who is told when one of them moves."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from barnabas.model.clock import Clock
from barnabas.model.ids import BrokerId
from barnabas.replication.guards import DEFAULT_GUARDS, Guards
from barnabas.replication.ports import IsrChannel
from barnabas.replication.throttle import ReplicationThrottle

if TYPE_CHECKING:
    from barnabas.replication.partition import Partition


class PartitionListener(Protocol):
    """Told, on the loop and at once, when a partition moved; must not raise.

    `on_high_watermark` also follows a flush when acknowledgements wait for the disk: it means
    that `ack_status` may have changed.
    """

    def on_append(self, partition: "Partition") -> None: ...
    def on_high_watermark(self, partition: "Partition") -> None: ...
    def on_leader_change(self, partition: "Partition") -> None: ...


@dataclass(frozen=True, slots=True)
class ReplicaSettings:
    """What all replicas of a broker share.

    `min_insync_of` looks up a topic's `min.insync.replicas`; a later change goes through
    `ReplicaManager.change_min_insync`. `request_flush` turns on fsync before acknowledgement: it
    is called after each append, runs flushes in its own time (one per partition, coalesced), and
    reports with `flushed`. `request_lifetime_ms` is how long a request to the controller that was
    given up may still take effect. `leader_throttle` holds back followers that are not in sync;
    whoever sends what was read counts it there.
    """

    broker_id: BrokerId
    clock: Clock
    isr_channel: IsrChannel
    max_lag_ms: int = 30_000
    request_lifetime_ms: int = 30_000
    min_insync_of: Callable[[str], int] = lambda _topic: 1
    request_flush: "Callable[[Partition], None] | None" = None
    guards: Guards = DEFAULT_GUARDS
    is_alive: Callable[[BrokerId], bool] = lambda _broker_id: True
    rack_of: Callable[[BrokerId], str | None] = lambda _broker_id: None
    leader_throttle: ReplicationThrottle | None = None
