"""Incremental fetch sessions (KIP-227): the broker stores the partitions that a client fetches.

A request with session epoch 0 requests a session, later requests contain only changes, and the
responses omit unchanged partitions. Epoch -1 means no session. The complete state of a partition is
stored, including the leader epoch (KAFKA-9338 was a bug without it).

No IO: takes `now` and a source of random ids. The number of sessions is limited. If all slots are
used, the least recently used session is evicted if it was idle for `min_eviction_ms`, or if a
follower needs the slot of a consumer. A client without a slot gets session id 0 and sends full
requests. The same applies above `MAX_PARTITIONS` in the sessions of all consumers together: a
request may name thousands of partitions, so the number of sessions alone does not limit the memory.
"""

from collections import OrderedDict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from barnabas.model.error_codes import ErrorCode
from barnabas.model.ids import Uuid
from barnabas.replication.partition import Partition

NO_SESSION_ID = 0
FINAL_EPOCH = -1
INITIAL_EPOCH = 0
_MAX_EPOCH = 2**31 - 1
MAX_PARTITIONS = 300_000
"""Partitions in the sessions of all consumers of a broker; each takes about 300 bytes."""

TargetKey = tuple[str | Uuid, int]


class SessionPartition:
    """One partition that a client fetches, and its state in the last response.

    `topic` is None if the client uses topic ids. `read_from` and `read_epoch` are the replica that
    served the latest read of this position and its leader epoch; None after an error.
    """

    __slots__ = (
        "current_leader_epoch",
        "fetch_offset",
        "last_fetched_epoch",
        "log_start_offset",
        "max_bytes",
        "partition",
        "read_epoch",
        "read_from",
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
        self.read_from: Partition | None = None
        self.read_epoch = -1

    @property
    def key(self) -> TargetKey:
        return (self.topic_id if self.topic is None else self.topic, self.partition)

    def take_over(self, newer: "SessionPartition") -> None:
        """Replaces the state by that of a newer request for the partition."""
        self.fetch_offset = newer.fetch_offset
        self.max_bytes = newer.max_bytes
        self.current_leader_epoch = newer.current_leader_epoch
        self.last_fetched_epoch = newer.last_fetched_epoch
        self.log_start_offset = newer.log_start_offset
        self.read_from = None


@dataclass(slots=True)
class PartitionChanges:
    """State of one partition in a response, as far as sessions compare it."""

    error: int
    size: int
    high_watermark: int
    log_start_offset: int
    redirected: bool = False  # a preferred replica, or a diverging epoch


class CachedFetchSession:
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
        self.targets: OrderedDict[TargetKey, SessionPartition] = OrderedDict()

    def update(self, changed: Iterable[SessionPartition], forgotten: Iterable[TargetKey]) -> None:
        for target in changed:
            known = self.targets.get(target.key)
            if known is None:
                self.targets[target.key] = target
            else:
                known.take_over(target)
        for key in forgotten:
            self.targets.pop(key, None)

    def has_news(self, target: SessionPartition, news: PartitionChanges) -> bool:
        """Whether the response must contain the partition; stores the state to be sent."""
        sent = (target.sent_high_watermark, target.sent_log_start_offset)
        changed = sent != (news.high_watermark, news.log_start_offset)
        must_be_repeated = bool(news.error) or news.redirected
        # -1 differs from every high watermark, so the next response contains the partition again,
        # also without an error.
        target.sent_high_watermark = -1 if must_be_repeated else news.high_watermark
        target.sent_log_start_offset = news.log_start_offset
        if news.size:
            # Partitions with data move to the end, so that no partition starves the others.
            self.targets.move_to_end(target.key)
        return changed or bool(news.size) or must_be_repeated


@dataclass(slots=True)
class SessionFetchPlan:
    """Partitions that one request fetches. `session` is set for incremental requests only."""

    targets: list[SessionPartition]
    error: ErrorCode = ErrorCode.NONE
    session: CachedFetchSession | None = None
    wants_session: bool = False
    by_id: bool = False


@dataclass(slots=True)
class FetchSessionRequest:
    """The session part of a request."""

    session_id: int
    epoch: int
    by_id: bool
    targets: list[SessionPartition]
    forgotten: list[TargetKey] = field(default_factory=list)


class FetchSessionCache:
    """All sessions of one broker; owned by its loop."""

    def __init__(
        self,
        new_id: Callable[[], int],
        *,
        max_slots: int = 1000,
        min_eviction_ms: int = 120_000,
        max_partitions: int = MAX_PARTITIONS,
    ) -> None:
        self._new_id = new_id
        self._max_partitions = max_partitions
        self.evictions = 0
        """Metric: sessions that were evicted for others."""
        self.partitions = 0
        """Partitions in the sessions of consumers; those of followers are not limited."""
        self._max_slots = max_slots
        self._min_eviction_ms = min_eviction_ms
        self._sessions: OrderedDict[int, CachedFetchSession] = (
            OrderedDict()
        )  # least recently used first

    def __len__(self) -> int:
        return len(self._sessions)

    def plan(self, request: FetchSessionRequest, now_ms: int) -> SessionFetchPlan:
        """Returns the partitions that the request fetches; updates its session."""
        if request.epoch in (FINAL_EPOCH, INITIAL_EPOCH):
            self._drop(request.session_id)
            wants = request.epoch == INITIAL_EPOCH
            return SessionFetchPlan(request.targets, wants_session=wants, by_id=request.by_id)
        session = self._sessions.get(request.session_id)
        error = _session_error(session, request)
        if session is None or error is not ErrorCode.NONE:
            return SessionFetchPlan([], error)
        before = len(session.targets)
        session.update(request.targets, request.forgotten)
        added = len(session.targets) - before
        if not session.privileged:
            self.partitions += added
        if not session.targets:
            self._drop(session.session_id)
            return SessionFetchPlan([])
        # After this error the client sends a full request, which then gets no session. Checked
        # only for added partitions, so that sessions within the limit are not dropped.
        if added > 0 and self.partitions > self._max_partitions and not session.privileged:
            self._drop(session.session_id)
            return SessionFetchPlan([], ErrorCode.FETCH_SESSION_ID_NOT_FOUND)
        # Epoch 0 would request a new session, so the epochs wrap around to 1.
        session.epoch = 1 if session.epoch == _MAX_EPOCH else session.epoch + 1
        session.last_used_ms = now_ms
        self._sessions.move_to_end(session.session_id)
        return SessionFetchPlan(
            list(session.targets.values()), session=session, by_id=request.by_id
        )

    def try_create(
        self, plan: SessionFetchPlan, *, privileged: bool, now_ms: int
    ) -> CachedFetchSession | None:
        """Opens a session for a full request that requested one, if a slot is available."""
        if not plan.wants_session or not plan.targets:
            return None
        if len(self._sessions) >= self._max_slots and not self._try_evict(privileged, now_ms):
            return None
        if not privileged and self.partitions + len(plan.targets) > self._max_partitions:
            return None
        session_id = self._new_id()
        while session_id in self._sessions or session_id == NO_SESSION_ID:
            session_id = self._new_id()
        session = CachedFetchSession(
            session_id, by_id=plan.by_id, privileged=privileged, now_ms=now_ms
        )
        session.update(plan.targets, ())
        self._sessions[session_id] = session
        if not privileged:
            self.partitions += len(session.targets)
        return session

    def _try_evict(self, privileged: bool, now_ms: int) -> bool:
        oldest = next(iter(self._sessions.values()), None)
        if oldest is not None and now_ms - oldest.last_used_ms > self._min_eviction_ms:
            self._drop(oldest.session_id)
            self.evictions += 1
            return True
        # A follower without a session sends all its partitions in each fetch, which costs the
        # cluster more than a consumer's full requests.
        if privileged:
            for session in self._sessions.values():
                if not session.privileged:
                    self._drop(session.session_id)
                    self.evictions += 1
                    return True
        return False

    def _drop(self, session_id: int) -> None:
        session = self._sessions.pop(session_id, None)
        if session is not None and not session.privileged:
            self.partitions -= len(session.targets)


def _session_error(session: CachedFetchSession | None, request: FetchSessionRequest) -> ErrorCode:
    if session is None:
        return ErrorCode.FETCH_SESSION_ID_NOT_FOUND
    # The client was upgraded or downgraded on this connection: names and ids cannot be mixed in one
    # session (KIP-516).
    if session.by_id != request.by_id:
        return ErrorCode.FETCH_SESSION_TOPIC_ID_ERROR
    # Requests of a session are numbered. A wrong number means that client and broker disagree about
    # the partitions; the client starts again with a full request (KIP-227).
    if session.epoch != request.epoch:
        return ErrorCode.INVALID_FETCH_SESSION_EPOCH
    return ErrorCode.NONE
