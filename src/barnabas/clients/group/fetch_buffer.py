"""Buffer of fetched batches between the loop, which fetches, and the polling thread.

The loop adds pieces; the polling thread takes records and decodes them outside of the lock. A piece
is invalid when the stamp of its partition has changed. Pieces of a paused partition stay in the
buffer. The order within a partition is the order of fetching.

An error waits for the records that were fetched before it, and precedes those fetched later, as in
Java's consumer. So a partition that fails is reported although others always have records.
"""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from barnabas.clients.group._iteration_hot import RecordIterator
from barnabas.clients.group.metrics import FetchMeters
from barnabas.clients.group.subscription import AssignedPartition, SubscriptionState
from barnabas.model.errors import BarnabasError, CorruptRecordError
from barnabas.model.ids import TopicPartition
from barnabas.records.reader import FetchDecoder
from barnabas.records.record import Record
from barnabas.runtime.clock import SystemClock

if TYPE_CHECKING:
    import pyarrow

ARROW_BATCH_BYTES = 1024 * 1024
"""Small pieces are combined until an Arrow batch has about this size."""
ARROW_BATCH_ROWS = 64 * 1024
"""A large piece is divided into Arrow batches of about this many rows.

4 MiB of compressed records may be 100 MB of columns. The system must clear new memory page by page
for these, which takes as long as to decode them; the allocator reuses smaller buffers.
"""


class Piece:
    """The batches of one partition in one fetch response; decoded when they are taken."""

    __slots__ = ("_index", "_records", "arrival", "decoder", "size", "stamp", "state")

    def __init__(
        self, state: AssignedPartition, stamp: int, decoder: FetchDecoder, size: int
    ) -> None:
        self.state = state
        self.stamp = stamp
        self.decoder = decoder
        self.size = size
        self.arrival = 0
        self._records: list[Record] = []
        self._index = 0

    @property
    def valid(self) -> bool:
        return self.stamp == self.state.stamp

    @property
    def position(self) -> int:
        """The offset after the last record that was taken."""
        if self._index < len(self._records):
            return self._records[self._index].offset
        return self.decoder.next_offset

    @property
    def epoch(self) -> int:
        """Leader epoch of the last record that was taken."""
        if 0 < self._index < len(self._records):
            return self._records[self._index - 1].leader_epoch
        return self.decoder.last_leader_epoch

    @property
    def used_up(self) -> bool:
        """Whether all records were taken, so that the memory can be used for the next fetch."""
        return self._index >= len(self._records) and self.decoder.exhausted

    def take(self, count: int) -> list[Record]:
        """Returns up to `count` records; fewer at the end of the piece or before a corrupt batch.

        Raises:
            CorruptRecordError: the next batch is corrupt.
        """
        out = self._from_batches(count)
        if len(out) == count:
            return out
        try:
            self._records, self._index = self.decoder.take_batches(count - len(out)), 0
        except CorruptRecordError:
            if not out:
                raise
            return out
        more = self._from_batches(count - len(out))
        return out + more if out else more

    def fill(self, count: int) -> None:
        """Decodes batches until at least `count` records are ready, or the piece is used up.

        A corrupt batch raises when no records are ready before it.
        """
        if self._index >= len(self._records):
            self._records, self._index = self.decoder.take_batches(count), 0

    def load(self, reader: RecordIterator) -> bool:
        """Passes the decoded records to a reader; returns whether there are any."""
        if self._index >= len(self._records):
            return False
        reader.load(self._records, self._index, self.decoder.next_offset)
        return True

    def returned(self, index: int) -> int:
        """Sets the index of the first record that the reader has not returned.

        Returns the number of records that it has returned.
        """
        count, self._index = index - self._index, index
        return count

    def before_last(self) -> tuple[int, int]:
        """Returns the offset and leader epoch before the record that the reader returned last."""
        epoch = self._records[self._index - 2].leader_epoch if self._index > 1 else -1
        return self._records[self._index - 1].offset, epoch

    def _from_batches(self, count: int) -> list[Record]:
        """Returns records of the batches that were decoded last."""
        records, start = self._records, self._index
        if start == 0 and len(records) <= count:
            self._records = []
            return records
        self._index = start + count
        return records[start : start + count]

    def take_remaining(self) -> list[Record]:
        """Returns the remaining records of a batch that was partly taken."""
        rest, self._records, self._index = self._records[self._index :], [], 0
        return rest


@dataclass(frozen=True, slots=True)
class Failure:
    """An error for poll(); it is dropped if the stamp of the partition has changed meanwhile."""

    state: AssignedPartition
    stamp: int
    error: BarnabasError
    arrival: int

    @property
    def valid(self) -> bool:
        return self.stamp == self.state.stamp


class FetchBuffer:
    """Pieces in order of arrival. Calls `on_data` and `on_room` outside of the lock."""

    def __init__(self, subscription: SubscriptionState, meters: FetchMeters | None = None) -> None:
        self.meters = meters or FetchMeters(SystemClock())
        self.on_data: Callable[[], None] = lambda: None
        self.on_room: Callable[[], None] = lambda: None
        self._subscription = subscription
        self._lock = subscription.lock
        self._pieces: deque[Piece] = deque()
        self._failures: deque[Failure] = deque()
        self._arrivals = 0
        self.total_bytes = 0
        self._block: Piece | None = None

    # -- called by the loop -----------------------------------------------------------------------

    def put(self, piece: Piece, fetched_to: int) -> None:
        """Adds a piece that ends before the offset `fetched_to`; ignores an invalid one."""
        with self._lock:
            if not piece.valid:
                return
            piece.state.fetch_offset = fetched_to
            piece.state.buffered_bytes += piece.size
            self.total_bytes += piece.size
            self._arrivals += 1
            piece.arrival = self._arrivals
            self._pieces.append(piece)

    def fail(self, state: AssignedPartition, stamp: int, error: BarnabasError) -> None:
        with self._lock:
            known = any(failure.state is state for failure in self._failures)
            if state.stamp == stamp and not known:
                self._failures.append(Failure(state, stamp, error, self._arrivals))
        self.on_data()

    # -- called by the polling thread -------------------------------------------------------------

    @property
    def ready(self) -> bool:
        """Whether there may be a record to take or an error to raise."""
        return bool(self._pieces or self._failures)

    def take(self, max_records: int) -> dict[TopicPartition, list[Record]]:
        """Returns records of the oldest pieces; raises an error if no records precede it."""
        taken: dict[TopicPartition, list[Record]] = {}
        left = max_records
        while left > 0:
            piece = self._next()
            if piece is None:
                break
            try:
                records = piece.take(left)
            except CorruptRecordError as error:
                if taken:
                    break
                raise CorruptRecordError(f"{piece.state.partition}: {error}") from error
            self._moved(piece, len(records), used_up=piece.used_up)
            left -= len(records)
            if records:
                topic_partition = piece.state.partition
                if topic_partition in taken:
                    taken[topic_partition].extend(records)
                else:
                    taken[topic_partition] = records
        return taken

    def load_block(self, reader: RecordIterator, max_records: int) -> bool:
        """Lets `reader` return records of the oldest piece, at least `max_records` if possible.

        `end_block` must be called before anything else is taken from the buffer.
        """
        while True:
            piece = self._next()
            if piece is None:
                return False
            try:
                piece.fill(max_records)
            except CorruptRecordError as error:
                raise CorruptRecordError(f"{piece.state.partition}: {error}") from error
            with self._lock:
                if piece.valid and piece.load(reader):
                    self._subscription.begin_records(piece.state)
                    piece.state.reader = reader
                    self._block = piece
                    return True
            self._moved(piece, 0, used_up=piece.used_up)

    def end_block(self, reader: RecordIterator) -> None:
        """Sets the position after the records that `reader` returned; the others stay."""
        piece, self._block = self._block, None
        if piece is None:
            return
        with self._lock:
            piece.state.stop_reader()
            count = piece.returned(reader.unload())
            if count:
                self._subscription.begin_last_record(piece.state, *piece.before_last())
        if piece.used_up:
            self._moved(piece, count, used_up=True)
        else:
            self.meters.consumed(piece.state, count, 0)

    def take_arrow(self) -> "pyarrow.RecordBatch | None":
        """Returns the oldest pieces as one Arrow batch, None if there are none.

        It has up to `ARROW_BATCH_ROWS` rows and the rest of the last record batch. A corrupt batch
        ends it; the next call raises the error.
        """
        # Optional extra: pyarrow.
        from barnabas.records.arrow import ArrowRows, from_records, join_batches

        rows = ArrowRows()
        remaining: list[Record] = []  # left by poll() of the oldest piece of a partition
        size = 0
        while size < ARROW_BATCH_BYTES and rows.count < ARROW_BATCH_ROWS:
            piece = self._next()
            if piece is None:
                break
            before = rows.count + len(remaining)
            remaining += piece.take_remaining()
            try:
                rows.take_from(piece.decoder, ARROW_BATCH_ROWS - rows.count)
            except CorruptRecordError:
                if not remaining:
                    raise
            used_up = piece.decoder.exhausted
            self._moved(piece, rows.count + len(remaining) - before, used_up=used_up)
            size += piece.size
            if not used_up:
                break
        batches = [from_records(remaining)] if remaining else []
        if rows.count:
            batches.append(rows.build())
        return join_batches(batches)

    def raise_failure(self) -> None:
        """Raises the oldest failure that is still valid."""
        with self._lock:
            while self._failures:
                failure = self._failures.popleft()
                if failure.valid:
                    raise failure.error

    def _next(self) -> Piece | None:
        """Returns the oldest valid piece of a partition that is not paused; drops invalid ones.

        None if an error arrived before it.
        """
        with self._lock:
            while self._failures and not self._failures[0].valid:
                self._failures.popleft()
            piece = self._oldest()
            if piece is None or not self._failures:
                return piece
            return piece if piece.arrival <= self._failures[0].arrival else None

    def _oldest(self) -> Piece | None:
        for piece in self._pieces:
            if not piece.valid:
                break
            if not piece.state.paused:
                return piece
        else:
            return None
        self._pieces = deque(piece for piece in self._pieces if piece.valid)
        self.total_bytes = sum(piece.size for piece in self._pieces)
        return next((piece for piece in self._pieces if not piece.state.paused), None)

    def _moved(self, piece: Piece, count: int, *, used_up: bool) -> None:
        """Sets the position after `count` records were taken; drops a piece that is used up."""
        state = piece.state
        with self._lock:
            if piece.valid:
                if count:
                    self._subscription.begin_records(state)
                epoch = max(state.epoch, piece.epoch)
                state.set_position(piece.position, epoch)
            if used_up:
                self._drop(piece)
        self.meters.consumed(state, count, piece.size if used_up else 0)
        if used_up:
            self.on_room()

    def _drop(self, piece: Piece) -> None:
        if self._pieces and self._pieces[0] is piece:
            self._pieces.popleft()
        else:
            self._pieces.remove(piece)
        self.total_bytes -= piece.size
        if piece.valid:
            piece.state.buffered_bytes -= piece.size


def empty_batch() -> "pyarrow.RecordBatch":
    """Returns an Arrow batch without rows."""
    # Optional extra: pyarrow.
    from barnabas.records import arrow

    return arrow.empty_batch()
