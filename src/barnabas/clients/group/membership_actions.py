"""The interface between a group member (a state machine without IO) and its driver.

The driver calls `poll(now_ms)`, which returns one action or None; at most one action is open at a
time. The polling thread runs an `AssignmentStep`, because a step calls the application's listener
and changes the assignment of that thread.
"""

import enum
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from barnabas.model.errors import BarnabasError
from barnabas.model.ids import TopicPartition
from barnabas.model.records import GroupMetadata
from barnabas.wire.message import Message, Request


class StepKind(enum.Enum):
    """The change of the assignment at the next poll().

    PREPARE: a rebalance begins; commit offsets and revoke the named partitions. REVOKE: commit
    and revoke partitions that other members get. LOST: the partitions already have another owner,
    so the coordinator would reject a commit. ASSIGN: add partitions.
    """

    PREPARE = "prepare"
    REVOKE = "revoke"
    LOST = "lost"
    ASSIGN = "assign"


@dataclass(frozen=True, slots=True, eq=False)
class AssignmentStep:
    """One change of the assignment, run by the polling thread."""

    kind: StepKind
    partitions: frozenset[TopicPartition]


@dataclass(frozen=True, slots=True)
class Send:
    """A request to the coordinator; with `timeout_ms` None, `request.timeout.ms` applies."""

    request: Request[Message]
    timeout_ms: int | None = None


@dataclass(frozen=True, slots=True)
class LookUpPartitions:
    """Requests the partition counts of these topics.

    A classic leader computes the assignment from them; a KIP-848 member needs their topic ids.
    """

    topics: frozenset[str]


Action = Send | AssignmentStep | LookUpPartitions


@dataclass(frozen=True, slots=True)
class Removal:
    """The identity of a member that the group removed, and the reason."""

    group: GroupMetadata
    reason: str


class Membership(Protocol):
    """A member of a group, by the classic or by the KIP-848 protocol. Times are monotonic."""

    @property
    def group(self) -> GroupMetadata:
        """The identity of this member, for commits and transactions."""
        ...

    @property
    def removal(self) -> Removal | None:
        """Set when the group removed this member; None after it has joined or left."""
        ...

    @property
    def fatal(self) -> BarnabasError | None:
        """The error that prevents this member from joining; retries cannot cure it."""
        ...

    @property
    def settled(self) -> bool:
        """Whether no rebalance is in progress."""
        ...

    def subscribe(self, topics: frozenset[str], pattern: str | None) -> None:
        """Sets the subscription; `pattern` only if the broker matches it."""
        ...

    def poll(self, now_ms: int) -> Action | None: ...

    def next_poll_ms(self, now_ms: int) -> int:
        """Returns the time of the next `poll` if no event happens before."""
        ...

    def on_response(self, response: Message, now_ms: int) -> None: ...

    def failed(self, error: BarnabasError, now_ms: int) -> None:
        """Handles a failed request; the driver looks up a coordinator that moved."""
        ...

    def on_partition_counts(self, counts: Mapping[str, int], now_ms: int) -> None:
        """Handles the result of `LookUpPartitions`."""
        ...

    def step_done(self, step: AssignmentStep, now_ms: int) -> None: ...

    @property
    def losing(self) -> bool:
        """Whether the partitions are lost, so that the driver must withdraw a pending step."""
        ...

    @property
    def joining(self) -> bool:
        """Whether the member has sent JoinGroup and has not yet joined the next generation."""
        ...

    def withdraw_step(self) -> None:
        """Cancels the open step, which the polling thread has not started."""
        ...

    def rejoin(self, reason: str) -> None:
        """Starts a rebalance, for example after a change of the partition count."""
        ...

    def overdue(self, now_ms: int) -> Request[Message] | None:
        """Leaves the group because `max.poll.interval.ms` has passed; returns the request."""
        ...

    def leave(self, reason: str) -> Request[Message] | None:
        """Ends the membership; returns the request for the coordinator, if one is necessary."""
        ...
