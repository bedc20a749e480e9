"""The fetching side of incremental fetch sessions (KIP-227), without IO.

In a session the broker stores the partitions that a consumer or a follower fetches: after a full
request, the next ones contain only changed and removed partitions. There is one `FetchSession` per
connection to a broker. `next` returns the contents of the next request; call `on_response` or
`lost` when that request ends.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from barnabas.model.error_codes import ErrorCode
from barnabas.model.ids import TopicPartition, Uuid

INITIAL_EPOCH = 0
MAX_EPOCH = 2**31 - 1
SESSION_ERRORS = frozenset(
    {
        ErrorCode.FETCH_SESSION_ID_NOT_FOUND,
        ErrorCode.INVALID_FETCH_SESSION_EPOCH,
        ErrorCode.FETCH_SESSION_TOPIC_ID_ERROR,
    }
)
"""After these errors the next request names all partitions; no partition has failed."""


class SessionTarget(Protocol):
    """One fetched partition; a target that equals the previous one is not sent again."""

    @property
    def topic_id(self) -> Uuid: ...


Target = TypeVar("Target", bound=SessionTarget)


@dataclass(slots=True)
class SessionStep(Generic[Target]):
    """Contents of the next request; `forgotten` has the topic ids of removed partitions."""

    session_id: int
    epoch: int
    changed: Mapping[TopicPartition, Target]
    forgotten: Mapping[TopicPartition, Uuid]


class FetchSession(Generic[Target]):
    """The state of one session. Owned by the fetcher's loop."""

    __slots__ = ("_epoch", "_id", "_known")

    def __init__(self) -> None:
        self._id = 0
        self._epoch = INITIAL_EPOCH
        self._known: Mapping[TopicPartition, Target] = {}

    @property
    def id(self) -> int:
        return self._id

    def next(self, targets: Mapping[TopicPartition, Target]) -> SessionStep[Target]:
        """Returns the contents of the next request, which fetches exactly these partitions.

        The session keeps `targets`; the caller must not change the mapping afterwards.
        """
        known, self._known = self._known, targets
        if self._epoch == INITIAL_EPOCH:
            return SessionStep(self._id, INITIAL_EPOCH, targets, {})
        changed = {
            topic_partition: target
            for topic_partition, target in targets.items()
            if (before := known.get(topic_partition)) is not target and before != target
        }
        forgotten = {
            topic_partition: before.topic_id
            for topic_partition, before in known.items()
            if (target := targets.get(topic_partition)) is not before
            and (target is None or target.topic_id != before.topic_id)
        }
        return SessionStep(self._id, self._epoch, changed, forgotten)

    def on_response(self, error: ErrorCode, session_id: int) -> None:
        """Applies the response to the last request."""
        if error is ErrorCode.FETCH_SESSION_ID_NOT_FOUND:
            self._id, self._epoch = 0, INITIAL_EPOCH
        elif error is not ErrorCode.NONE:
            self._epoch = INITIAL_EPOCH
        elif session_id == 0:
            # The broker created no session or evicted it: continue with full requests.
            self._id, self._epoch = 0, INITIAL_EPOCH
        else:
            self._id = session_id
            self._epoch = 1 if self._epoch == MAX_EPOCH else self._epoch + 1

    def lost(self) -> None:
        """Starts a new session, because it is unknown whether the broker processed the request.

        Epoch 0 with the old id makes the broker drop that session.
        """
        self._epoch = INITIAL_EPOCH
