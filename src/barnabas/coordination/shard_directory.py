"""The coordinator partitions that this broker serves, with their leader epochs.

Every call names a leader epoch, so that late, repeated or reordered commands have no effect
(KAFKA-15468 reloaded a loaded shard; KAFKA-16118 did not unload one). Pure: the driver reads logs
and keeps the shards.
"""

import enum
from dataclasses import dataclass, field


class ShardState(enum.Enum):
    """State of one shard.

    LOADING: requests get COORDINATOR_LOAD_IN_PROGRESS. ACTIVE: serves. FAILED: loaded again in a
    higher epoch, or by `begin_load` in the same one (KAFKA-9307).
    """

    LOADING = "loading"
    ACTIVE = "active"
    FAILED = "failed"


@dataclass(slots=True)
class _Entry:
    epoch: int
    state: ShardState


@dataclass(slots=True)
class CoordinatorDirectory:
    """Partition -> epoch and state; owned by the loop that owns the shards."""

    _entries: dict[int, _Entry] = field(default_factory=dict)
    _resigned: dict[int, int] = field(default_factory=dict)

    def state(self, partition: int) -> ShardState | None:
        """Returns the state, or None if this broker is not the coordinator."""
        entry = self._entries.get(partition)
        return entry.state if entry is not None else None

    def epoch(self, partition: int) -> int | None:
        entry = self._entries.get(partition)
        return entry.epoch if entry is not None else None

    def partitions(self) -> list[int]:
        return sorted(self._entries)

    def begin_load(self, partition: int, epoch: int) -> bool:
        """Returns whether the driver must load now; False for a repeated or outdated election.

        It supersedes a load in progress with an older epoch, whose `finish_load` returns False.
        """
        if epoch <= self._resigned.get(partition, -1):
            return False
        entry = self._entries.get(partition)
        if entry is not None and epoch < entry.epoch:
            return False
        if entry is not None and epoch == entry.epoch and entry.state is not ShardState.FAILED:
            return False
        self._entries[partition] = _Entry(epoch, ShardState.LOADING)
        return True

    def finish_load(self, partition: int, epoch: int) -> bool:
        """Returns whether the shard loaded at `epoch` may serve; False if it was superseded."""
        return self._end_load(partition, epoch, ShardState.ACTIVE)

    def fail_load(self, partition: int, epoch: int) -> bool:
        """Marks a load as failed; returns whether it was the current one."""
        return self._end_load(partition, epoch, ShardState.FAILED)

    def unload(self, partition: int, epoch: int | None) -> bool:
        """Returns whether the driver must drop the shard; None (replica deleted) matches any epoch.

        An unload older than the current load is ignored, and so are later elections up to `epoch`.
        """
        entry = self._entries.get(partition)
        if epoch is not None:
            if entry is not None and epoch < entry.epoch:
                return False
            self._resigned[partition] = max(epoch, self._resigned.get(partition, -1))
        return self._entries.pop(partition, None) is not None

    def _end_load(self, partition: int, epoch: int, state: ShardState) -> bool:
        entry = self._entries.get(partition)
        if entry is None or entry.epoch != epoch or entry.state is not ShardState.LOADING:
            return False
        entry.state = state
        return True
