"""What one coordinator step asks of its driver: records to append, replies, timers.

The driver runs every step the same way, without letting another step of the same shard in between
(appending is a synchronous call on the loop that owns the shard):

1. `outcome = shard.join_group(request, now_ms)` (or any other operation, or `on_timer`).
2. When `outcome.records` is not empty, append them as one batch (transactional, with
   `outcome.producer`, when that is set), then settle the step:
   `outcome = shard.appended(outcome, now_ms)`, or, when the append raised,
   `outcome = shard.append_failed(outcome, error_code, now_ms)`.
   A settled outcome never has records. State changes become visible only by settling.
3. Start and cancel `outcome.timers`, in order; a timer that fires is given to `shard.on_timer`.
4. Answer: `outcome.reply` is the reply to this request; when it is None the request is parked
   under `outcome.parked`, and a later outcome carries its reply in `completions`.

Replies and completions leave the broker only once the high watermark has reached the last record
this shard wrote *before or in* that step, also when the step itself wrote nothing: what a reply
tells must not be lost with a leader (the reply may rest on an earlier, uncommitted record).
"""

import enum
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

from barnabas.groups.replies import Reply
from barnabas.model.error_codes import ErrorCode

Token = int
"""Names one parked request of one shard; never reused."""


class CoordinatorRecord(NamedTuple):
    """One record of `__consumer_offsets`; a None value is a tombstone."""

    key: bytes
    value: bytes | None


class ProducerSession(NamedTuple):
    """The transactional producer under whose id records must be appended."""

    producer_id: int
    producer_epoch: int


class TimerKind(enum.Enum):
    """What a timer guards. Every state a group can wait in has one that leads out of it."""

    SESSION = "session"  # a member was not heard of for its session timeout
    PENDING_MEMBER = "pending member"  # a member id was handed out (KIP-394) and never used
    JOIN = "join"  # the join phase of a classic group has lasted its time
    SYNC = "sync"  # members of a new classic generation have not synced (KAFKA-12890)
    REVOCATION = "revocation"  # a KIP-848 member has not given up partitions
    CLASSIC_JOIN = "classic join"  # a classic member of a consumer group has not rejoined
    CLASSIC_SYNC = "classic sync"  # a classic member of a consumer group has not synced


class TimerKey(NamedTuple):
    """Identifies a timer; setting one that is already set replaces it."""

    kind: TimerKind
    group_id: str
    member_id: str = ""


class SetTimer(NamedTuple):
    """Fire `key` once, `delay_ms` of monotonic time from now."""

    key: TimerKey
    delay_ms: int


class CancelTimer(NamedTuple):
    """Forget `key` if it is set."""

    key: TimerKey


class Completion(NamedTuple):
    """The reply to a request parked by an earlier step. Each token is completed exactly once."""

    token: Token
    reply: Reply


Settlement = Callable[[ErrorCode, int], "Outcome"]
"""Package-internal: what a step does once its append ended with this code, at this time."""


@dataclass(slots=True)
class Outcome:
    """The result of one step. See the module docstring for what the driver does with it."""

    reply: Reply | None = None
    records: list[CoordinatorRecord] = field(default_factory=list)
    completions: list[Completion] = field(default_factory=list)
    timers: list[SetTimer | CancelTimer] = field(default_factory=list)
    parked: Token | None = None
    producer: ProducerSession | None = None
    settle: Settlement | None = field(default=None, repr=False)

    @property
    def settled(self) -> bool:
        """Whether nothing is left to append, so that replies and timers count."""
        return not self.records

    def set_timer(self, key: TimerKey, delay_ms: int) -> None:
        self.timers.append(SetTimer(key, delay_ms))

    def cancel_timer(self, key: TimerKey) -> None:
        self.timers.append(CancelTimer(key))

    def complete(self, token: Token, reply: Reply) -> None:
        self.completions.append(Completion(token, reply))
