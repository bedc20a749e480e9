"""Fetched batches between the loop that fetches and the thread that polls.

The loop puts pieces in; the polling thread takes records out, decoding them itself and outside of
the lock. A piece is void when its partition's stamp has moved on; a paused partition's pieces
stay where they are. Order within a partition is the order of fetching.
"""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from barnabas.clients.group.partition_state import PartitionState
from barnabas.clients.group.subscription import SubscriptionState
from barnabas.model.errors import BarnabasError, CorruptRecordError
from barnabas.model.ids import TopicPartition
from barnabas.records.reader import FetchDecoder
from barnabas.records.record import Record

if TYPE_CHECKING:
    import pyarrow

ARROW_BATCH_BYTES = 1024 * 1024
"""Small pieces are joined until an Arrow batch has about this size."""


class Piece:
    """One partition's part of one fetch response, decoded batch by batch as it is taken."""

    __slots__ = ("_index", "_records", "decoder", "size", "stamp", "state")

    def __init__(self, state: PartitionState, stamp: int, decoder: FetchDecoder, size: int) -> None:
        self.state = state
        self.stamp = stamp
        self.decoder = decoder
        self.size = size
        self._records: list[Record] = []
        self._index = 0

    @property
    def valid(self) -> bool:
        return self.stamp == self.state.stamp

    @property
    def position(self) -> int:
        """The offset after all that was taken."""
        if self._index < len(self._records):
            return self._records[self._index].offset
        return self.decoder.next_offset

    @property
    def used_up(self) -> bool:
        """Whether nothing is left; its memory is wanted for what is fetched next."""
        return self._index >= len(self._records) and self.decoder.exhausted

    def take(self, count: int) -> list[Record]:
        """Up to `count` records; fewer only when the piece is used up, or before a corrupt batch.

        A corrupt batch raises when it is the first to be taken.
        """
        out = self._from_batch(count)
        while len(out) < count:
            try:
                self._records, self._index = self.decoder.take_batch(), 0
            except CorruptRecordError:
                if not out:
                    raise
                break
            if not self._records:
                break
            more = self._from_batch(count - len(out))
            if out:
                out.extend(more)
            else:
                out = more
        return out

    def _from_batch(self, count: int) -> list[Record]:
        """Records of the batch decoded last."""
        records, start = self._records, self._index
        if start == 0 and len(records) <= count:
            self._records = []
            return records
        self._index = start + count
        return records[start : start + count]

    def take_rest(self) -> list[Record]:
        """What is left of a batch that was taken in part."""
        rest, self._records, self._index = self._records[self._index :], [], 0
        return rest


@dataclass(frozen=True, slots=True)
class Failure:
    """Something the application must hear of from poll(); void with its partition's stamp."""

    state: PartitionState
    stamp: int
    error: BarnabasError


class FetchBuffer:
    """Pieces in order of arrival. `on_data` and `on_room` are called outside the lock."""

    def __init__(self, subscription: SubscriptionState) -> None:
        self.on_data: Callable[[], None] = lambda: None
        self.on_room: Callable[[], None] = lambda: None
        self._lock = subscription.lock
        self._pieces: deque[Piece] = deque()
        self._failures: deque[Failure] = deque()
        self.total_bytes = 0

    # -- the loop's side -----------------------------------------------------------------------

    def put(self, piece: Piece, fetched_to: int) -> None:
        """Add a piece that ends before the offset `fetched_to`; ignored when void."""
        with self._lock:
            if not piece.valid:
                return
            piece.state.fetch_offset = fetched_to
            piece.state.buffered_bytes += piece.size
            self.total_bytes += piece.size
            self._pieces.append(piece)

    def fail(self, state: PartitionState, stamp: int, error: BarnabasError) -> None:
        with self._lock:
            known = any(failure.state is state for failure in self._failures)
            if state.stamp == stamp and not known:
                self._failures.append(Failure(state, stamp, error))
        self.on_data()

    # -- the polling thread's side -------------------------------------------------------------

    @property
    def ready(self) -> bool:
        """Whether something may be there to take or to raise."""
        return bool(self._pieces or self._failures)

    def take(self, max_records: int) -> dict[TopicPartition, list[Record]]:
        """Records of the oldest pieces; an error only when there are no records before it."""
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
            self._moved(piece, used_up=piece.used_up)
            left -= len(records)
            if records:
                topic_partition = piece.state.partition
                if topic_partition in taken:
                    taken[topic_partition].extend(records)
                else:
                    taken[topic_partition] = records
        return taken

    def take_arrow(self) -> "pyarrow.RecordBatch | None":
        """The oldest pieces whole, as one Arrow batch; None when there is nothing."""
        batches: list[pyarrow.RecordBatch] = []
        size = 0
        while size < ARROW_BATCH_BYTES:
            piece = self._next()
            if piece is None:
                break
            try:
                found = piece_to_batches(piece)
            except CorruptRecordError:
                if batches:
                    break
                raise
            used_up = piece.decoder.exhausted
            self._moved(piece, used_up=used_up)
            size += piece.size
            batches.extend(batch for batch in found if batch.num_rows)
            if not used_up:
                break
        return join_batches(batches)

    def raise_failure(self) -> None:
        """Raise the oldest failure that still stands."""
        with self._lock:
            while self._failures:
                failure = self._failures.popleft()
                if failure.stamp == failure.state.stamp:
                    raise failure.error

    def _next(self) -> Piece | None:
        """The oldest piece that may be taken from; void ones are dropped on the way."""
        with self._lock:
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

    def _moved(self, piece: Piece, *, used_up: bool) -> None:
        """Records were taken: the position moves, and a piece that is used up goes."""
        state = piece.state
        with self._lock:
            if piece.valid:
                state.offset = piece.position
                state.epoch = max(state.epoch, piece.decoder.last_leader_epoch)
            if used_up:
                self._drop(piece)
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


def piece_to_batches(piece: Piece) -> "list[pyarrow.RecordBatch]":
    """Returns the remaining records of a piece, usually one batch made from the fetched bytes."""
    from barnabas.records.arrow import take_arrow  # optional extra: pyarrow

    rest = piece.take_rest()
    batches = [_from_records(rest)] if rest else []
    batches.append(take_arrow(piece.decoder))
    return batches


def join_batches(batches: "list[pyarrow.RecordBatch]") -> "pyarrow.RecordBatch | None":
    """Joins batches; copies only if there is more than one."""
    import pyarrow as pa  # optional extra

    if len(batches) <= 1:
        return batches[0] if batches else None
    return pa.Table.from_batches(batches).combine_chunks().to_batches()[0]


def empty_batch() -> "pyarrow.RecordBatch":
    """Returns an Arrow batch without rows."""
    import pyarrow as pa  # optional extra

    from barnabas.records.arrow import schema

    return pa.RecordBatch.from_pylist([], schema=schema())


def _from_records(records: list[Record]) -> "pyarrow.RecordBatch":
    """Converts the records that an earlier poll() left of a batch."""
    import pyarrow as pa  # optional extra

    from barnabas.records.arrow import schema

    rows = [
        {
            "topic": record.topic,
            "partition": record.partition,
            "offset": record.offset,
            "timestamp": record.timestamp if record.timestamp >= 0 else None,
            "key": record.key,
            "value": record.value,
            "headers": [{"key": name, "value": value} for name, value in record.headers],
        }
        for record in records
    ]
    return pa.RecordBatch.from_pylist(rows, schema=schema())
