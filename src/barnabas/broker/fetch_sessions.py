"""Incremental fetch sessions (KIP-227): the broker stores the partitions that a client fetches.

A request with session epoch 0 requests a session, later requests contain only changes, and the
responses omit unchanged partitions. Epoch -1 means no session. The complete state of a partition is
stored, including the leader epoch (KAFKA-9338 was a bug without it).

No IO: takes `now` and a source of random ids. The number of sessions is limited. If all slots are
used, the least recently used session is evicted if it was idle for `min_eviction_ms`, or if a
follower needs the slot of a consumer. A client without a slot gets session id 0 and sends full
requests.
"""

from collections import OrderedDict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from barnabas.model.error_codes import ErrorCode
from barnabas.model.ids import Uuid

NO_SESSION_ID = 0
FINAL_EPOCH = -1
INITIAL_EPOCH = 0
_MAX_EPOCH = 2**31 - 1

TargetKey = tuple[str | Uuid, int]


class FetchTarget:
    """One partition that a client fetches, and its state in the last response.

    `topic` is None if the client uses topic ids.
    """

    __slots__ = (
        "current_leader_epoch",
        "fetch_offset",
        "last_fetched_epoch",
        "log_start_offset",
        "max_bytes",
        "partition",
        "sent_high_watermark",
        "sent_log_start_offset",
        "topic",
        "topic_id",
    )

    def __init__(self, topic: str | None, topic_id: Uuid, partition: int) -> None:
        self.topic = topic
        self.topic_id = topic_id
        self.partition = partition
        self.fetch_offset = 0
        self.max_bytes = 0
        self.current_leader_epoch = -1
        self.last_fetched_epoch = -1
        self.log_start_offset = -1
        self.sent_high_watermark = -1
        self.sent_log_start_offset = -1

    @property
    def key(self) -> TargetKey:
        return (self.topic_id if self.topic is None else self.topic, self.partition)

    def take_over(self, newer: "FetchTarget") -> None:
        """Replaces the state by that of a newer request for the partition."""
        self.fetch_offset = newer.fetch_offset
        self.max_bytes = newer.max_bytes
        self.current_leader_epoch = newer.current_leader_epoch
        self.last_fetched_epoch = newer.last_fetched_epoch
        self.log_start_offset = newer.log_start_offset


@dataclass(slots=True)
class PartitionNews:
    """State of one partition in a response, as far as sessions compare it."""

    error: int
    size: int
    high_watermark: int
    log_start_offset: int
    redirected: bool = False  # a preferred replica, or a diverging epoch


class FetchSession:
    """The partitions of one client, in the order in which they will be read."""

    __slots__ = (
        "by_id",
        "epoch",
        "last_used_ms",
        "privileged",
        "session_id",
        "targets",
    )

    def __init__(self, session_id: int, *, by_id: bool, privileged: bool, now_ms: int) -> None:
        self.session_id = session_id
        self.by_id = by_id
        self.privileged = privileged
        self.epoch = INITIAL_EPOCH + 1
        self.last_used_ms = now_ms
        self.targets: OrderedDict[TargetKey, FetchTarget] = OrderedDict()

    def update(self, changed: Iterable[FetchTarget], forgotten: Iterable[TargetKey]) -> None:
        for target in changed:
            known = self.targets.get(target.key)
            if known is None:
                self.targets[target.key] = target
            else:
                known.take_over(target)
        for key in forgotten:
            self.targets.pop(key, None)

    def has_news(self, target: FetchTarget, news: PartitionNews) -> bool:
        """Whether the response must contain the partition; stores the state to be sent."""
        told = (target.sent_high_watermark, target.sent_log_start_offset)
        changed = told != (news.high_watermark, news.log_start_offset)
        must_be_told_again = bool(news.error) or news.redirected
        target.sent_high_watermark = -1 if must_be_told_again else news.high_watermark
        target.sent_log_start_offset = news.log_start_offset
        if news.size:
            # Partitions with data move to the end, so that no partition starves the others.
            self.targets.move_to_end(target.key)
        return changed or bool(news.size) or must_be_told_again


@dataclass(slots=True)
class FetchPlan:
    """Partitions that one request fetches. `session` is set for incremental requests only."""

    targets: list[FetchTarget]
    error: ErrorCode = ErrorCode.NONE
    session: FetchSession | None = None
    wants_session: bool = False
    by_id: bool = False


@dataclass(slots=True)
class FetchAsk:
    """The session part of a request."""

    session_id: int
    epoch: int
    by_id: bool
    targets: list[FetchTarget]
    forgotten: list[TargetKey] = field(default_factory=list)


class FetchSessionCache:
    """All sessions of one broker; owned by its loop."""

    def __init__(
        self,
        new_id: Callable[[], int],
        *,
        max_slots: int = 1000,
        min_eviction_ms: int = 120_000,
    ) -> None:
        self._new_id = new_id
        self._max_slots = max_slots
        self._min_eviction_ms = min_eviction_ms
        self._sessions: OrderedDict[int, FetchSession] = OrderedDict()  # least recently used first

    def __len__(self) -> int:
        return len(self._sessions)

    def plan(self, ask: FetchAsk, now_ms: int) -> FetchPlan:
        """Returns the partitions that the request fetches; updates its session."""
        if ask.epoch in (FINAL_EPOCH, INITIAL_EPOCH):
            self._sessions.pop(ask.session_id, None)
            wants = ask.epoch == INITIAL_EPOCH
            return FetchPlan(ask.targets, wants_session=wants, by_id=ask.by_id)
        session = self._sessions.get(ask.session_id)
        error = _session_error(session, ask)
        if session is None or error is not ErrorCode.NONE:
            return FetchPlan([], error)
        session.update(ask.targets, ask.forgotten)
        if not session.targets:
            del self._sessions[session.session_id]
            return FetchPlan([])
        session.epoch = 1 if session.epoch == _MAX_EPOCH else session.epoch + 1
        session.last_used_ms = now_ms
        self._sessions.move_to_end(session.session_id)
        return FetchPlan(list(session.targets.values()), session=session, by_id=ask.by_id)

    def try_create(self, plan: FetchPlan, *, privileged: bool, now_ms: int) -> FetchSession | None:
        """Opens a session for a full request that requested one, if a slot is available."""
        if not plan.wants_session or not plan.targets:
            return None
        if len(self._sessions) >= self._max_slots and not self._try_evict(privileged, now_ms):
            return None
        session_id = self._new_id()
        while session_id in self._sessions or session_id == NO_SESSION_ID:
            session_id = self._new_id()
        session = FetchSession(session_id, by_id=plan.by_id, privileged=privileged, now_ms=now_ms)
        session.update(plan.targets, ())
        self._sessions[session_id] = session
        return session

    def _try_evict(self, privileged: bool, now_ms: int) -> bool:
        oldest = next(iter(self._sessions.values()), None)
        if oldest is not None and now_ms - oldest.last_used_ms > self._min_eviction_ms:
            del self._sessions[oldest.session_id]
            return True
        if privileged:
            for session in self._sessions.values():
                if not session.privileged:
                    del self._sessions[session.session_id]
                    return True
        return False


def _session_error(session: FetchSession | None, ask: FetchAsk) -> ErrorCode:
    if session is None:
        return ErrorCode.FETCH_SESSION_ID_NOT_FOUND
    if session.by_id != ask.by_id:
        return ErrorCode.FETCH_SESSION_TOPIC_ID_ERROR
    if session.epoch != ask.epoch:
        return ErrorCode.INVALID_FETCH_SESSION_EPOCH
    return ErrorCode.NONE
