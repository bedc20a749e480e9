"""What a membership machine asks of its driver, and what it is told. Pure types.

A machine is asked by `poll(now_ms)` and answers with one action or None; it holds one action open
at a time. A `Step` is run in the thread that polls, for it calls the application's listener and
changes what that thread reads.
"""

import enum
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from barnabas.model.errors import BarnabasError
from barnabas.model.group_metadata import GroupMetadata
from barnabas.model.ids import TopicPartition
from barnabas.wire.message import Message


class StepKind(enum.Enum):
    """What happens to partitions at the next poll().

    PREPARE: a rebalance begins; offsets are committed, and the partitions named given up.
    REVOKE: partitions are given up to others, after committing. LOST: they are gone already, a
    commit would be refused. ASSIGN: partitions are added.
    """

    PREPARE = "prepare"
    REVOKE = "revoke"
    LOST = "lost"
    ASSIGN = "assign"


@dataclass(frozen=True, slots=True, eq=False)
class Step:
    """One thing to do in the polling thread."""

    kind: StepKind
    partitions: frozenset[TopicPartition]


@dataclass(frozen=True, slots=True)
class Send:
    """A request for the coordinator; `timeout_ms` None for the client's own."""

    request: Message
    timeout_ms: int | None = None


@dataclass(frozen=True, slots=True)
class Divide:
    """This member leads: it needs the partition counts of these topics."""

    topics: frozenset[str]


Action = Send | Step | Divide


@dataclass(frozen=True, slots=True)
class Removal:
    """A membership that ended against the member's will: what it was, and why it ended."""

    group: GroupMetadata
    reason: str


class Membership(Protocol):
    """Both protocols, as their driver sees them. Times are monotonic milliseconds."""

    @property
    def group(self) -> GroupMetadata:
        """Who this member is now, for commits and transactions."""
        ...

    @property
    def removal(self) -> Removal | None:
        """How the group removed this member; None again once it has joined or left."""
        ...

    @property
    def fatal(self) -> BarnabasError | None:
        """Why this member can never join, until the application starts over."""
        ...

    @property
    def settled(self) -> bool:
        """Whether no rebalance is under way."""
        ...

    def subscribe(self, topics: frozenset[str], pattern: str | None) -> None:
        """What to read from now on; `pattern` only where the broker matches it."""
        ...

    def poll(self, now_ms: int) -> Action | None: ...

    def next_poll_ms(self, now_ms: int) -> int:
        """When `poll` may have something to say without any event."""
        ...

    def answered(self, response: Message, now_ms: int) -> None: ...

    def failed(self, error: BarnabasError, now_ms: int) -> None:
        """No answer; a coordinator that moved is the driver's business."""
        ...

    def divide(self, counts: Mapping[str, int], now_ms: int) -> None: ...

    def step_done(self, step: Step, now_ms: int) -> None: ...

    @property
    def losing(self) -> bool:
        """Whether what this member had is gone: a step not begun yet is better withdrawn."""
        ...

    @property
    def joining(self) -> bool:
        """Whether it is on its way into a generation that is not its own yet."""
        ...

    def withdraw_step(self) -> None:
        """The polling thread has not begun the open step, and will not."""
        ...

    def rejoin(self, reason: str) -> None:
        """Something outside calls for a rebalance."""
        ...

    def overdue(self, now_ms: int) -> Message | None:
        """The application did not poll within max.poll.interval.ms: what tells the group so."""
        ...

    def leave(self, reason: str) -> Message | None:
        """The request that ends this membership, if one is due; the machine is idle then."""
        ...
