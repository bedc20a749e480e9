"""One assigned partition as its consumer sees it: position, what was fetched ahead, and its phase.

Two offsets go side by side. `offset` is the application's position, moved by what `poll()`
returns. `fetch_offset` runs ahead of it by what is buffered. Whenever the two part ways by a seek,
a reset or a new assignment, `stamp` changes, and everything fetched under the old stamp is void.
"""

import enum
from dataclasses import dataclass

from barnabas.clients.group.offset_reset import OffsetReset
from barnabas.model.ids import TopicPartition


class Phase(enum.Enum):
    """What a partition waits for.

    UNPOSITIONED: its committed offset. Leaves to FETCHING or VALIDATING with one, RESETTING
    without. RESETTING: an offset from its leader. VALIDATING: the leader's word that the position
    lies on its log (KIP-320). FETCHING: nothing; a leader change leads back to VALIDATING, an
    offset out of range to RESETTING. A seek leads to FETCHING or RESETTING from anywhere.
    """

    UNPOSITIONED = "unpositioned"
    RESETTING = "resetting"
    VALIDATING = "validating"
    FETCHING = "fetching"


@dataclass(slots=True, eq=False)
class PartitionState:
    """Guarded by the lock of the `SubscriptionState` that holds it."""

    partition: TopicPartition
    phase: Phase = Phase.UNPOSITIONED
    offset: int = -1
    epoch: int = -1
    fetch_offset: int = -1
    leader_epoch: int = -1
    stamp: int = 0
    buffered_bytes: int = 0
    paused: bool = False
    reset: OffsetReset | None = None
    retry_at_ms: int = 0
    high_watermark: int = -1
    last_stable_offset: int = -1
    log_start_offset: int = -1
    preferred_replica: int = -1
    preferred_until_ms: int = 0

    @property
    def has_position(self) -> bool:
        return self.phase in (Phase.FETCHING, Phase.VALIDATING)

    def move_to(self, offset: int, epoch: int = -1) -> None:
        """Set the position; whatever was fetched from elsewhere is void."""
        self.void()
        self.offset = self.fetch_offset = offset
        self.epoch = epoch
        self.reset = None
        self.retry_at_ms = 0
        self.phase = Phase.FETCHING

    def move_to_checked(self, offset: int, epoch: int) -> None:
        """Set a position that came with an epoch: the leader is asked whether it holds."""
        self.move_to(offset, epoch)
        if epoch >= 0:
            self.phase = Phase.VALIDATING

    def ask_for(self, reset: OffsetReset) -> None:
        """The position is to come from the leader."""
        self.void()
        self.reset = reset
        self.retry_at_ms = 0
        self.phase = Phase.RESETTING

    def leader_changed(self, epoch: int) -> bool:
        """The leader's epoch by metadata; True when that calls for a check of the position."""
        if epoch == self.leader_epoch:
            return False
        known, self.leader_epoch = self.leader_epoch, epoch
        self.preferred_replica = -1
        if known >= 0 and self.phase is Phase.FETCHING and self.epoch >= 0:
            self.void()
            self.fetch_offset = self.offset
            self.phase = Phase.VALIDATING
            return True
        return False

    def void(self) -> None:
        """Nothing fetched up to now will be given to the application."""
        self.stamp += 1
        self.buffered_bytes = 0

    def lag(self, committed_only: bool) -> int | None:
        """Records between the position and the end, None while either is unknown."""
        end = self.last_stable_offset if committed_only else self.high_watermark
        return max(end - self.offset, 0) if end >= 0 and self.has_position else None

    def lead(self) -> int | None:
        """Records between the beginning of the log and the position."""
        if self.log_start_offset < 0 or not self.has_position:
            return None
        return max(self.offset - self.log_start_offset, 0)
