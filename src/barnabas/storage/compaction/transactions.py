"""Which batches and markers of transactions a pass over the log may drop.

Fed batch by batch in log order. Data of an aborted transaction is dropped. A marker is dropped only
once no data of its transaction is left, for without it a reader could not tell what became of the
data. Markers are never compared by key: two markers have the same one (KAFKA-14055).
"""

from collections.abc import Iterable

from barnabas.records.batch import BatchHeader
from barnabas.records.control import ControlType, EndMarker
from barnabas.storage.indexes.transaction_index import AbortedTxn


class _Aborting:
    """An aborted transaction whose marker has not been met yet."""

    __slots__ = ("seen_data", "txn")

    def __init__(self, txn: AbortedTxn) -> None:
        self.txn = txn
        self.seen_data = False


class CleanedTransactions:
    """State of one pass. `kept_aborted` collects the index entries the cleaned segment needs."""

    def __init__(self, aborted: Iterable[AbortedTxn]) -> None:
        self._upcoming = sorted(aborted, key=lambda txn: txn.first_offset, reverse=True)
        self._aborting: dict[int, _Aborting] = {}
        self._committing: set[int] = set()
        self.kept_aborted: list[AbortedTxn] = []

    def drops_data(self, header: BatchHeader) -> bool:
        """Whether a batch of records belongs to an aborted transaction."""
        self._begin_up_to(header.last_offset)
        if not header.is_transactional:
            return False
        aborting = self._aborting.get(header.producer_id)
        if aborting is not None:
            aborting.seen_data = True
            return True
        self._committing.add(header.producer_id)
        return False

    def drops_marker(self, header: BatchHeader, marker: EndMarker | None) -> bool:
        """Whether nothing of the marker's transaction was met, so that it need not stay."""
        self._begin_up_to(header.last_offset)
        if marker is None:
            # Emptied by an earlier pass: it stands for its producer's epoch alone.
            return True
        if marker.type is ControlType.ABORT:
            aborting = self._aborting.pop(header.producer_id, None)
            if aborting is None or not aborting.seen_data:
                return True
            self.kept_aborted.append(aborting.txn)
            return False
        committing = header.producer_id in self._committing
        self._committing.discard(header.producer_id)
        return not committing

    def keep_marker(self, header: BatchHeader, marker: EndMarker | None) -> None:
        """A marker behind the range of the pass stays, and so does its index entry."""
        self._begin_up_to(header.last_offset)
        self._committing.discard(header.producer_id)
        aborting = self._aborting.pop(header.producer_id, None)
        if aborting is not None and marker is not None and marker.type is ControlType.ABORT:
            self.kept_aborted.append(aborting.txn)

    def take_kept_aborted(self) -> list[AbortedTxn]:
        """The entries for the segment just written."""
        kept, self.kept_aborted = self.kept_aborted, []
        return kept

    def _begin_up_to(self, offset: int) -> None:
        while self._upcoming and self._upcoming[-1].first_offset <= offset:
            txn = self._upcoming.pop()
            self._aborting.setdefault(txn.producer_id, _Aborting(txn))
