"""Incremental fetch sessions (KIP-227), the client's side. Pure.

A session is the broker's memory of what one client reads from it: after a full request, each next
one names only what changed and what is to be forgotten. One `FetchSession` per broker; it hands
out the next request's part (`next`) and must hear how that request ended (`answered`, `lost`).
"""

from collections.abc import Mapping

from barnabas.clients.core.apis.fetch import FetchSelection, FetchTarget, all_have_ids
from barnabas.model.error_codes import ErrorCode
from barnabas.model.ids import TopicPartition

INITIAL_EPOCH = 0
MAX_EPOCH = 2**31 - 1


Targets = Mapping[TopicPartition, FetchTarget]


class FetchSession:
    """The state of one session; owned by the fetching loop."""

    __slots__ = ("_by_id", "_epoch", "_id", "_known")

    def __init__(self) -> None:
        self._id = 0
        self._epoch = INITIAL_EPOCH
        self._known: dict[TopicPartition, FetchTarget] = {}
        self._by_id = True

    @property
    def id(self) -> int:
        return self._id

    def next(self, targets: Targets) -> FetchSelection:
        """The next request for exactly these partitions."""
        by_id = all_have_ids(targets)
        if self._epoch != INITIAL_EPOCH and by_id != self._by_id:
            # A session goes by names or by ids, never by both.
            self._epoch = INITIAL_EPOCH
        self._by_id = by_id
        known, self._known = self._known, dict(targets)
        if self._epoch == INITIAL_EPOCH:
            return FetchSelection(targets, by_id, self._id, INITIAL_EPOCH)
        changed = {place: target for place, target in targets.items() if known.get(place) != target}
        forgotten = {
            place: target.topic_id
            for place, target in known.items()
            if place not in targets or targets[place].topic_id != target.topic_id
        }
        return FetchSelection(changed, by_id, self._id, self._epoch, forgotten)

    def answered(self, error: ErrorCode, session_id: int) -> None:
        """The broker answered the last request."""
        if error is ErrorCode.FETCH_SESSION_ID_NOT_FOUND:
            self._id, self._epoch = 0, INITIAL_EPOCH
        elif error is not ErrorCode.NONE:
            self._epoch = INITIAL_EPOCH
        elif session_id == 0:
            # No session was made, or it was given up: full requests from here on.
            self._id, self._epoch = 0, INITIAL_EPOCH
        else:
            self._id = session_id
            self._epoch = 1 if self._epoch == MAX_EPOCH else self._epoch + 1

    def lost(self) -> None:
        """No answer: whether the broker took the request in is unknown, so begin anew.

        Epoch 0 with the old id makes the broker drop that session.
        """
        self._epoch = INITIAL_EPOCH
