"""Writes rows to topics: at least once, or exactly once with one transaction per task.

Each task of a query has its own transactional id, made of the query's id and the task's number. Its
transaction contains the rows and the number of the micro-batch, as an offset committed for a group
of the same name. Both become visible together or not at all. A task that runs again first calls
init_transactions, which aborts the open transaction of an earlier attempt and fences it. Then it
reads the committed number, which no other task can change any more. If it is the number of this
micro-batch or a later one, the rows are already written and the task writes nothing.

A worker process that wrote the previous micro-batch skips both steps at its first attempt: its
producer still owns the transactional id, so the committed number is the one it wrote. If another
worker has taken the id since, this transaction cannot commit, and the task starts again with both
steps. This needs the rows a second time, so it is done only for small micro-batches.

Assumption: a replayed micro-batch has the same rows in the same tasks, which Spark's checkpoints
and this source ensure. A replay with another number of rows is rejected, not skipped. Limitation:
the tasks of a micro-batch commit one by one, so a reader may see part of a micro-batch while it is
written, or until a failed one has been replayed.
"""

import contextlib
import itertools
import json
import logging
import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from barnabas.admin import Admin
from barnabas.clients.producer.column_producer import ColumnProducer, Deliveries
from barnabas.model.errors import BarnabasError, LocalError
from barnabas.model.ids import TopicPartition
from barnabas.model.records import GroupMetadata, OffsetAndMetadata
from barnabas.spark.options import admin_settings
from barnabas.spark.sink.options import SINK_COLUMNS, TRANSACTION_TIMEOUT_MS, Epoch, SinkOptions
from barnabas.spark.worker_memory import freeze_imports

PENDING_BATCHES = 16
DELIVERY_SECONDS = 600.0
KEPT_BYTES = 1024 * 1024
"""Rows up to this size are kept in memory until they are committed, for retries."""
ATTEMPTS = 3
"""Number of attempts; each one reads the committed epoch first. In local mode Spark itself does not
retry a task."""
FRESH_SECONDS = 600.0
"""After this time without use the coordinator may have expired the transactional id."""


@dataclass(slots=True)
class RowSender:
    """Sends the rows of one task; `finish` raises the first error of any of them."""

    producer: ColumnProducer
    topic: str | None
    timestamp_column: str | None = None
    rows: int = 0
    first_topic: str | None = None
    _pending: list[Deliveries] = field(default_factory=list)

    def send(self, batches: Iterable[pa.RecordBatch]) -> None:
        """Starts to send all rows."""
        for batch in batches:
            for topic, rows in self._by_topic(batch):
                self.first_topic = self.first_topic or topic
                self._pending.append(self._send(topic, rows))
            self.rows += batch.num_rows
            # A failed record must end a large task early, without a check of every future per
            # batch.
            if len(self._pending) > PENDING_BATCHES:
                self._check()

    def finish(self) -> None:
        """Waits until all rows are acknowledged."""
        self.producer.flush(DELIVERY_SECONDS)
        self._check()

    def _by_topic(self, batch: pa.RecordBatch) -> Iterator[tuple[str, pa.RecordBatch]]:
        """Yields the rows of each topic, in their order."""
        if self.topic is not None:
            yield self.topic, batch
            return
        topics = batch.column("topic")
        if topics.null_count:
            raise LocalError("the column 'topic' is null in a row, and no option names a topic")
        for topic in topics.unique().to_pylist():
            yield topic, batch.filter(pc.equal(topics, topic))

    def _send(self, topic: str, batch: pa.RecordBatch) -> Deliveries:
        columns = {name: batch.column(name) for name in batch.schema.names if name in SINK_COLUMNS}
        headers = columns.get("headers")
        if headers is not None and headers.null_count < len(headers):
            return self._send_one_by_one(topic, batch)
        return self.producer.send_columns(
            topic,
            _bytes(columns["value"]),
            _bytes(columns.get("key")),
            columns.get("partition"),
            _times(batch, self.timestamp_column),
        )

    def _send_one_by_one(self, topic: str, batch: pa.RecordBatch) -> Deliveries:
        """Sends record by record: columns cannot hold headers."""
        deliveries, send = Deliveries(), self.producer.send
        times = _times(batch, self.timestamp_column)
        for value, key, pairs, partition, timestamp in zip(
            _objects(batch, "value"),
            _objects(batch, "key"),
            _list(batch, "headers"),
            _list(batch, "partition"),
            [None] * batch.num_rows if times is None else times.to_pylist(),
            strict=True,
        ):
            headers = [(pair["key"], pair["value"]) for pair in pairs or ()]
            deliveries.add_future(send(topic, value, key, headers, partition, timestamp))
        return deliveries

    def _check(self) -> None:
        for deliveries in self._pending:
            deliveries.check()
        self._pending = [item for item in self._pending if not item.done]


def _bytes(column: pa.Array | None) -> pa.Array | None:
    """Returns a column of bytes or text, which have the same layout, with 32-bit offsets."""
    if column is None or column.type in (pa.binary(), pa.string()):
        return column
    return column.cast(pa.binary())


def _list(batch: pa.RecordBatch, name: str) -> list[Any]:
    if name not in batch.schema.names:
        return [None] * batch.num_rows
    found: list[Any] = batch.column(name).to_pylist()
    return found


def _objects(batch: pa.RecordBatch, name: str) -> list[object]:
    if name not in batch.schema.names:
        return [None] * batch.num_rows
    found: list[Any] = batch.column(name).cast(pa.binary()).to_pylist()
    return found


def _times(batch: pa.RecordBatch, name: str | None) -> pa.Array | None:
    """Returns timestamps in milliseconds; for null the producer takes the present time."""
    if name is None:
        return None
    millis = batch.column(name).cast(pa.timestamp("ms", tz="UTC"), safe=False)
    return millis.cast(pa.int64())


_log = logging.getLogger("barnabas.spark")


@dataclass(frozen=True, slots=True)
class CommittedBatch:
    """The committed number of a micro-batch and its number of rows."""

    batch_id: int
    rows: int

    def render(self, query_id: str) -> OffsetAndMetadata:
        """Returns the offset to commit: the next micro-batch, like a consumer's next record."""
        text = json.dumps({"query": query_id, "batch": self.batch_id, "rows": self.rows})
        # An offset cannot be negative, and the first micro-batch has the number 0.
        return OffsetAndMetadata(self.batch_id + 1, text)

    @classmethod
    def read(cls, committed: OffsetAndMetadata) -> "CommittedBatch":
        return cls(committed.offset - 1, int(json.loads(committed.metadata)["rows"]))


class ReplayError(LocalError):
    """A replayed micro-batch differs from the one that was written."""


class ProducerCache:
    """Clients of this worker process; a forked process starts with none."""

    def __init__(self, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._monotonic = monotonic
        self._process = -1
        self._producers: dict[tuple[tuple[str, str], ...], ColumnProducer] = {}
        self._admins: dict[tuple[tuple[str, str], ...], Admin] = {}
        self._written: dict[tuple[tuple[str, str], ...], tuple[int, float]] = {}

    def continues(self, settings: Mapping[str, str], epoch: Epoch) -> bool:
        """Returns whether this producer wrote the previous micro-batch recently."""
        self._after_fork()
        batch_id, when = self._written.get(_key(settings), (-1, 0.0))
        fresh = self._monotonic() - when < FRESH_SECONDS
        return batch_id >= 0 and batch_id == epoch.batch_id - 1 and fresh

    def record_write(self, settings: Mapping[str, str], epoch: Epoch) -> None:
        self._written[_key(settings)] = epoch.batch_id, self._monotonic()

    def producer(self, settings: Mapping[str, str]) -> ColumnProducer:
        self._after_fork()
        key = _key(settings)
        if key not in self._producers:
            self._producers[key] = ColumnProducer(settings)
        return self._producers[key]

    def admin(self, settings: Mapping[str, str]) -> Admin:
        self._after_fork()
        wanted = admin_settings(settings)
        if _key(wanted) not in self._admins:
            self._admins[_key(wanted)] = Admin(wanted)
        return self._admins[_key(wanted)]

    def drop(self, settings: Mapping[str, str]) -> None:
        """Closes a producer after an error: the next task creates a new one."""
        self._written.pop(_key(settings), None)
        producer = self._producers.pop(_key(settings), None)
        if producer is not None:
            with contextlib.suppress(BarnabasError):  # errors of undelivered records
                producer.close(0)

    def _after_fork(self) -> None:
        # Spark's daemon forks the workers. Sockets and threads of the parent do not work in a
        # child; the objects are dropped without a close, because a close would write to the
        # sockets of the parent.
        if self._process != os.getpid():
            self._process, self._producers, self._admins = os.getpid(), {}, {}
            self._written = {}


# One per worker process, because connections must outlive a task.
clients = ProducerCache()


def write_at_least_once(options: SinkOptions, batches: Iterator[pa.RecordBatch]) -> int:
    """Sends the rows and waits until all are acknowledged; returns their number. A task that runs
    again writes duplicates."""
    sending = RowSender(clients.producer(options.client), options.topic, options.timestamp_column)
    try:
        sending.send(batches)
        sending.finish()
    except BarnabasError:
        clients.drop(options.client)
        raise
    return sending.rows


def write_exactly_once(
    options: SinkOptions, epoch: Epoch, batches: Iterator[pa.RecordBatch]
) -> int:
    """Writes the rows unless they were written before; returns the number of written rows."""
    kept = list(_first(batches))
    if not kept:
        return 0
    settings = _transactional(options, epoch)
    # These rows are too large to keep for a second attempt. The slower function reads them only
    # once; after a failure Spark repeats the task.
    if sum(batch.nbytes for batch in kept) > KEPT_BYTES:
        return _write_if_missing(options, settings, epoch, itertools.chain(kept, batches))
    # A second attempt may run while the first is still alive (speculation, a lost executor). Only
    # init_transactions fences it, so only a first attempt may skip that call.
    continues = epoch.first_attempt and clients.continues(settings, epoch)
    *attempts, last = ([_transaction] if continues else []) + [_write_if_missing] * ATTEMPTS
    for write in attempts:
        try:
            return write(options, settings, epoch, kept)
        # Another attempt would find the same difference.
        except ReplayError:
            raise
        except BarnabasError as error:
            # A broker is restarting, or another worker has taken the id, if only for a replay that
            # wrote nothing.
            _log.info(
                "the write failed and is retried after reading the committed epoch: %s", error
            )
    return last(options, settings, epoch, kept)


def _first(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yields the batches that have rows, until their size exceeds KEPT_BYTES."""
    size = 0
    for batch in batches:
        if batch.num_rows:
            yield batch
            size += batch.nbytes
            if size > KEPT_BYTES:
                return


def _write_if_missing(
    options: SinkOptions,
    settings: dict[str, str],
    epoch: Epoch,
    rows: Iterable[pa.RecordBatch],
) -> int:
    try:
        # This order makes the read final: after init_transactions (KIP-98) no earlier attempt can
        # commit, and require_stable (KIP-447) waits for a commit that is being completed.
        clients.producer(settings).init_transactions()
        committed = _committed_batch(clients.admin(settings), epoch.transactional_id)
        if committed is not None and committed.batch_id >= epoch.batch_id:
            _check_replay(committed, epoch, sum(batch.num_rows for batch in rows))
            return 0
    except BaseException:
        clients.drop(settings)
        raise
    return _transaction(options, settings, epoch, rows)


def _transaction(
    options: SinkOptions,
    settings: dict[str, str],
    epoch: Epoch,
    rows: Iterable[pa.RecordBatch],
) -> int:
    producer = clients.producer(settings)
    sending = RowSender(producer, options.topic, options.timestamp_column)
    try:
        # A producer that another worker has fenced fails when it adds a partition or commits. It
        # then has written nothing that a read_committed reader sees.
        producer.begin_transaction()
        sending.send(rows)
        assert sending.first_topic is not None
        committed = CommittedBatch(epoch.batch_id, sending.rows).render(epoch.query_id)
        # Any existing partition is suitable; the group belongs to this task alone.
        topic_partition = TopicPartition(sending.first_topic, 0)
        group = GroupMetadata(epoch.transactional_id)
        producer.commit_with_offsets({topic_partition: committed}, group, DELIVERY_SECONDS)
    except BaseException:
        clients.drop(settings)
        raise
    # Only after the commit has succeeded. If the response was lost, the state of the micro-batch
    # is unknown, and the next attempt must read the committed number.
    clients.record_write(settings, epoch)
    freeze_imports()
    return sending.rows


def _committed_batch(admin: Admin, group: str) -> CommittedBatch | None:
    committed = admin.list_group_offsets([group], require_stable=True)[group]
    latest = max(committed.values(), default=None, key=lambda item: item.offset)
    return None if latest is None else CommittedBatch.read(latest)


def _check_replay(committed: CommittedBatch, epoch: Epoch, rows: int) -> None:
    if committed.batch_id == epoch.batch_id and committed.rows != rows:
        raise ReplayError(
            f"micro-batch {epoch.batch_id} of query {epoch.query_id} was written with "
            f"{committed.rows} rows in task {epoch.task} and is replayed with {rows}: its rows "
            "were distributed to tasks differently, so the missing rows cannot be determined"
        )


def _transactional(options: SinkOptions, epoch: Epoch) -> dict[str, str]:
    return {
        "transaction.timeout.ms": TRANSACTION_TIMEOUT_MS,
        **options.client,
        "transactional.id": epoch.transactional_id,
    }


def _key(settings: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    return tuple(sorted(settings.items()))
