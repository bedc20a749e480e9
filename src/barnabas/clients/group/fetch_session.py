"""The client's side of incremental fetch sessions (KIP-227), without IO.

In a session the broker stores the partitions that a client fetches: after a full request, the next
ones contain only changed and removed partitions. There is one `FetchSession` per broker. `next`
returns the contents of the next request; call `answered` or `lost` when that request ends.
"""

from collections.abc import Mapping

from barnabas.clients.core.apis.fetch import FetchSelection, FetchTarget, all_have_ids
from barnabas.model.error_codes import ErrorCode
from barnabas.model.ids import TopicPartition

INITIAL_EPOCH = 0
MAX_EPOCH = 2**31 - 1


Targets = Mapping[TopicPartition, FetchTarget]


class FetchSession:
    """The state of one session. Owned by the fetcher's loop."""

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
        """Returns the contents of the next request, which fetches exactly these partitions."""
        by_id = all_have_ids(targets)
        if self._epoch != INITIAL_EPOCH and by_id != self._by_id:
            # A session uses either topic names or topic ids.
            self._epoch = INITIAL_EPOCH
        self._by_id = by_id
        known, self._known = self._known, dict(targets)
        if self._epoch == INITIAL_EPOCH:
            return FetchSelection(targets, by_id, self._id, INITIAL_EPOCH)
        changed = {
            topic_partition: target
            for topic_partition, target in targets.items()
            if known.get(topic_partition) != target
        }
        forgotten = {
            topic_partition: target.topic_id
            for topic_partition, target in known.items()
            if topic_partition not in targets
            or targets[topic_partition].topic_id != target.topic_id
        }
        return FetchSelection(changed, by_id, self._id, self._epoch, forgotten)

    def answered(self, error: ErrorCode, session_id: int) -> None:
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
