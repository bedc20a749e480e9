"""Tracks the partitions of decided transactions that have no marker yet.

There is one entry per transaction that waits for markers, owned by the shard. An entry is found by
transactional id, but a result counts only if it belongs to a request of the same entry, by producer
id, epoch, coordinator epoch and attempt number. In KAFKA-9777, KAFKA-10080 and KAFKA-16352
completions were missed, repeated, or taken from the entry of another epoch. A partition has at most
one request in flight; the marker is sent again only after an error or a timeout.
"""

import enum
from collections.abc import Iterable, Mapping, Set

from barnabas.coordination import SendMarkers
from barnabas.model.error_codes import ErrorCode
from barnabas.model.ids import TopicPartition
from barnabas.transactions.metadata import TransactionState, Transition
from barnabas.transactions.requests import TransactionConfig, TransactionGuards


class MarkerResult(enum.Enum):
    """The meaning of a partition's response for the transaction."""

    WRITTEN = enum.auto()
    RETRY = enum.auto()
    SUPERSEDED = enum.auto()
    """Another coordinator is responsible now and completes the transaction."""


_RESULTS = {
    ErrorCode.NONE: MarkerResult.WRITTEN,
    # The log holds the old message format, so the producer never wrote to it.
    ErrorCode.UNSUPPORTED_FOR_MESSAGE_FORMAT: MarkerResult.WRITTEN,
    # The partition has a higher epoch of this producer id. Such an epoch is assigned only after
    # this transaction is complete, so an earlier request has written its marker.
    ErrorCode.INVALID_PRODUCER_EPOCH: MarkerResult.WRITTEN,
    ErrorCode.TRANSACTION_COORDINATOR_FENCED: MarkerResult.SUPERSEDED,
}


def marker_result(error: ErrorCode) -> MarkerResult:
    """Returns RETRY for all other errors: a decided transaction is never dropped."""
    return _RESULTS.get(error, MarkerResult.RETRY)


class PendingMarkers:
    """One decided transaction: its partitions without a marker, and the requests in flight."""

    __slots__ = ("completing", "decided", "first_attempt", "in_flight", "retry_at_ms", "waiting")

    def __init__(self, decided: Transition, first_attempt: int) -> None:
        self.decided = decided
        self.first_attempt = first_attempt
        self.waiting: set[TopicPartition] = set(decided.partitions)
        self.in_flight: dict[TopicPartition, tuple[int, int]] = {}
        """Partition -> (attempt, deadline of the attempt)."""
        self.retry_at_ms: int | None = None
        self.completing = False
        """Whether the append of the Complete record is pending."""

    @property
    def finished(self) -> bool:
        return not self.waiting and not self.in_flight

    @property
    def wake_at_ms(self) -> int | None:
        """The time of the next retry, without a result before."""
        times = [deadline for _, deadline in self.in_flight.values()]
        if self.retry_at_ms is not None:
            times.append(self.retry_at_ms)
        return min(times, default=None)

    def owns(self, send: SendMarkers) -> bool:
        """Whether `send` was a request of this entry."""
        return (
            send.producer_id == self.decided.producer_id
            and send.producer_epoch == self.decided.producer_epoch
            and send.attempt >= self.first_attempt
        )

    def take_result(self, topic_partition: TopicPartition, attempt: int, written: bool) -> bool:
        """Stores the result of one partition; returns whether its marker must be sent again."""
        # The result of an earlier attempt counts as well: the marker is in the log.
        if written:
            self.in_flight.pop(topic_partition, None)
            self.waiting.discard(topic_partition)
            return False
        if self.in_flight.get(topic_partition, (-1, 0))[0] != attempt:
            return False
        del self.in_flight[topic_partition]
        self.waiting.add(topic_partition)
        return True


class MarkerTracker:
    """The entries of one shard; returns the requests to send and does no IO."""

    def __init__(
        self, coordinator_epoch: int, config: TransactionConfig, guards: TransactionGuards
    ) -> None:
        self._coordinator_epoch = coordinator_epoch
        self._config = config
        self._guards = guards
        self._entries: dict[str, PendingMarkers] = {}
        self._attempts = 0
        self.wake_at_ms: int | None = None
        """The time of the next call of `due`.

        It may be too early, but never too late, so that its update needs constant time with any
        number of transactions.
        """

    def __len__(self) -> int:
        return len(self._entries)

    @property
    def transactional_ids(self) -> list[str]:
        return list(self._entries)

    def open(self, transactional_id: str, decided: Transition, now_ms: int) -> SendMarkers | None:
        """Returns the first requests of a decided transaction; None without partitions."""
        # Attempts are counted over all transactions, so a late result of an earlier transaction of
        # this id never has the number of a current request.
        entry = PendingMarkers(decided, self._attempts + 1)
        self._entries[transactional_id] = entry
        return self._send(transactional_id, entry, now_ms)

    def record(
        self,
        send: SendMarkers,
        results: Mapping[TopicPartition, ErrorCode],
        deleted: Set[TopicPartition],
        now_ms: int,
    ) -> None:
        """Stores the results of some partitions of a request."""
        entry = self._entries.get(send.transactional_id)
        if entry is None or not self._counts(entry, send):
            return
        marker_results = {partition: marker_result(error) for partition, error in results.items()}
        # No reader can reach the records of a deleted partition, and waiting for its marker would
        # block the producer forever.
        marker_results.update(dict.fromkeys(deleted, MarkerResult.WRITTEN))
        if MarkerResult.SUPERSEDED in marker_results.values():
            # The new coordinator loads the decision from the log and sends all markers again.
            del self._entries[send.transactional_id]
            return
        for partition, result in marker_results.items():
            if entry.take_result(partition, send.attempt, result is MarkerResult.WRITTEN):
                self._retry_later(entry, now_ms)

    def _counts(self, entry: PendingMarkers, send: SendMarkers) -> bool:
        if not self._guards.marker_results_bound_to_transaction:
            return True
        return send.coordinator_epoch == self._coordinator_epoch and entry.owns(send)

    def due(self, now_ms: int) -> list[SendMarkers]:
        """Returns the requests to repeat: after an error and its back-off, or after a timeout."""
        if self.wake_at_ms is None or now_ms < self.wake_at_ms:
            return []
        sends = []
        for transactional_id, entry in self._entries.items():
            self._give_up_lost(entry, now_ms)
            if entry.retry_at_ms is not None and entry.retry_at_ms <= now_ms:
                send = self._send(transactional_id, entry, now_ms)
                if send is not None:
                    sends.append(send)
        times = [entry.wake_at_ms for entry in self._entries.values()]
        self.wake_at_ms = min((time for time in times if time is not None), default=None)
        return sends

    def take_finished(self, transactional_ids: Iterable[str]) -> list[str]:
        """Returns the ids whose transaction has all markers and no pending Complete record."""
        return [name for name in transactional_ids if self._take_finished(name)]

    def _take_finished(self, transactional_id: str) -> bool:
        entry = self._entries.get(transactional_id)
        if entry is None or not entry.finished or entry.completing:
            return False
        if entry.retry_at_ms is not None:
            return False
        # Set before the append: results of several leaders may arrive before it is settled, and
        # only one Complete record may be written.
        entry.completing = True
        return True

    def retry_completion(self, transactional_id: str, now_ms: int) -> None:
        """Repeats the Complete record after the back-off, because it could not be written."""
        entry = self._entries.get(transactional_id)
        if entry is not None:
            entry.completing = False
            self._retry_later(entry, now_ms)

    def close(self, transactional_id: str) -> None:
        """Removes the entry, because the Complete record is committed."""
        self._entries.pop(transactional_id, None)

    def _retry_later(self, entry: PendingMarkers, now_ms: int) -> None:
        entry.retry_at_ms = now_ms + self._config.marker_retry_backoff_ms
        self._wake_by(entry.retry_at_ms)

    def _wake_by(self, time_ms: int) -> None:
        if self.wake_at_ms is None or time_ms < self.wake_at_ms:
            self.wake_at_ms = time_ms

    def _give_up_lost(self, entry: PendingMarkers, now_ms: int) -> None:
        lost = [part for part, (_, deadline) in entry.in_flight.items() if deadline <= now_ms]
        for partition in lost:
            del entry.in_flight[partition]
            entry.waiting.add(partition)
            # Without a back-off: the request was in flight until its deadline. The marker may have
            # been written; a partition accepts the same marker twice.
            entry.retry_at_ms = now_ms

    def _send(
        self, transactional_id: str, entry: PendingMarkers, now_ms: int
    ) -> SendMarkers | None:
        entry.retry_at_ms = None
        if not entry.waiting:
            return None
        self._attempts += 1
        deadline = now_ms + self._config.marker_timeout_ms
        # A leader that never responds must not keep its partitions in flight: the transaction would
        # never end.
        self._wake_by(deadline)
        partitions = tuple(sorted(entry.waiting))
        entry.in_flight.update(dict.fromkeys(partitions, (self._attempts, deadline)))
        entry.waiting.clear()
        decided = entry.decided
        return SendMarkers(
            transactional_id,
            decided.producer_id,
            decided.producer_epoch,
            decided.state is TransactionState.PREPARE_COMMIT,
            self._coordinator_epoch,
            decided.transaction_version,
            partitions,
            self._attempts,
        )
