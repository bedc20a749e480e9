"""Exactly once: one transaction per task, with the rows and the mark that they are there.

Each task of a query has a transactional id of its own, made of the query's id and the task's
number. Its transaction holds the rows and, as an offset committed for a group of the same name,
the number of the micro-batch. Both become visible together or not at all. A task that runs again,
after a crash of the driver, of a worker, or of nothing at all, first takes over the transactional
id, which ends whatever an earlier attempt left open and bars it from ever committing; then it
looks at the mark, which nobody else can change any more. A mark of this micro-batch or a later one
means: the rows are there, write nothing.

A worker process that wrote the micro-batch before, and whose first attempt at this one it is,
spares itself both: its producer still holds the transactional id, so the mark is the one it wrote.
Should another worker have taken the id in the meantime, no transaction of this one can commit, and
it begins anew with the long way; so this is for small micro-batches, whose rows are at hand.

What this rests on: a replayed micro-batch has the same rows in the same tasks, as Spark's
checkpoints and this source see to. A replay whose number of rows differs is refused, not skipped.
What it does not do: the tasks of one micro-batch commit one by one, so a reader may see part of a
micro-batch while it is being written, or until a failed one has been replayed.
"""

import contextlib
import itertools
import json
import logging
import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from barnabas.admin import Admin
from barnabas.clients.producer.column_producer import ColumnProducer
from barnabas.model.errors import BarnabasError, LocalError
from barnabas.model.group_metadata import GroupMetadata, OffsetAndMetadata
from barnabas.model.ids import TopicPartition
from barnabas.spark.client_settings import admin_settings
from barnabas.spark.sink.options import TRANSACTION_TIMEOUT_MS, SinkOptions
from barnabas.spark.sink.rows import DELIVERY_SECONDS, Sending
from barnabas.spark.worker_memory import freeze_imports

if TYPE_CHECKING:
    import pyarrow as pa

_log = logging.getLogger("barnabas.spark")
ID_PREFIX = "spark-sink"
KEPT_BYTES = 1024 * 1024
"""Rows of a micro-batch that are kept until they are committed, to be sent again."""
LOOKS = 3
"""How often rows that are at hand are tried to be written, each time after a look at what is there:
on one machine Spark gives a task one try, and brokers come and go."""
FRESH_SECONDS = 600.0
"""A coordinator forgets a transactional id that is not used for long."""


@dataclass(frozen=True, slots=True)
class Epoch:
    """Which write this is: of which query, which micro-batch, which task."""

    query_id: str
    batch_id: int
    task: int
    first_attempt: bool = False

    @property
    def transactional_id(self) -> str:
        return f"{ID_PREFIX}-{self.query_id}-{self.task}"


@dataclass(frozen=True, slots=True)
class Mark:
    """What a committed transaction says of itself."""

    batch_id: int
    rows: int

    def render(self, query_id: str) -> OffsetAndMetadata:
        """The offset is the next micro-batch, as a consumer's is the next record."""
        text = json.dumps({"query": query_id, "batch": self.batch_id, "rows": self.rows})
        return OffsetAndMetadata(self.batch_id + 1, text)

    @classmethod
    def read(cls, committed: OffsetAndMetadata) -> "Mark":
        return cls(committed.offset - 1, int(json.loads(committed.metadata)["rows"]))


class ReplayError(LocalError):
    """What comes again is not what was written."""


class ProducerCache:
    """Clients of this worker process; a fork begins with none."""

    def __init__(self, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._monotonic = monotonic
        self._process = -1
        self._producers: dict[tuple[tuple[str, str], ...], ColumnProducer] = {}
        self._admins: dict[tuple[tuple[str, str], ...], Admin] = {}
        self._written: dict[tuple[tuple[str, str], ...], tuple[int, float]] = {}

    def goes_on(self, settings: Mapping[str, str], epoch: Epoch) -> bool:
        """Whether this producer wrote the micro-batch before, a short time ago."""
        self._after_fork()
        batch_id, when = self._written.get(_key(settings), (-1, 0.0))
        fresh = self._monotonic() - when < FRESH_SECONDS
        return batch_id >= 0 and batch_id == epoch.batch_id - 1 and fresh

    def wrote(self, settings: Mapping[str, str], epoch: Epoch) -> None:
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
        """After an error: the next task begins with a producer that knows nothing of it."""
        self._written.pop(_key(settings), None)
        producer = self._producers.pop(_key(settings), None)
        if producer is not None:
            with contextlib.suppress(BarnabasError):  # of what it could not deliver
                producer.close(0)

    def _after_fork(self) -> None:
        if self._process != os.getpid():
            self._process, self._producers, self._admins = os.getpid(), {}, {}
            self._written = {}


# One per worker process, as long as it lives: connections must outlast a task.
clients = ProducerCache()


def write_at_least_once(options: SinkOptions, batches: Iterator["pa.RecordBatch"]) -> int:
    """Send the rows and wait until all are acknowledged; retries make no duplicates, a task that
    runs again does. Returns how many."""
    sending = Sending(clients.producer(options.client), options.topic, options.timestamp_column)
    try:
        sending.send(batches)
        sending.finish()
    except BarnabasError:
        clients.drop(options.client)
        raise
    return sending.rows


def write_exactly_once(
    options: SinkOptions, epoch: Epoch, batches: Iterator["pa.RecordBatch"]
) -> int:
    """Write the rows unless they are there already; returns how many were written."""
    kept = list(_first(batches))
    if not kept:
        return 0
    settings = _transactional(options, epoch)
    if sum(batch.nbytes for batch in kept) > KEPT_BYTES:
        return _after_a_look(options, settings, epoch, itertools.chain(kept, batches))
    goes_on = epoch.first_attempt and clients.goes_on(settings, epoch)
    *ways, last = ([_transaction] if goes_on else []) + [_after_a_look] * LOOKS
    for write in ways:
        try:
            return write(options, settings, epoch, kept)
        except ReplayError:
            raise
        except BarnabasError as error:
            # Brokers come and go, or another worker has had the id since, be it for a replay that
            # wrote nothing.
            _log.info("the rows are sent again, after a look at what is there: %s", error)
    return last(options, settings, epoch, kept)


def _first(batches: Iterator["pa.RecordBatch"]) -> Iterator["pa.RecordBatch"]:
    """All batches that have rows, if they are small; if not, those that show it."""
    size = 0
    for batch in batches:
        if batch.num_rows:
            yield batch
            size += batch.nbytes
            if size > KEPT_BYTES:
                return


def _after_a_look(
    options: SinkOptions,
    settings: dict[str, str],
    epoch: Epoch,
    rows: Iterable["pa.RecordBatch"],
) -> int:
    try:
        clients.producer(settings).init_transactions()
        mark = _read_mark(clients.admin(settings), epoch.transactional_id)
        if mark is not None and mark.batch_id >= epoch.batch_id:
            _check_replay(mark, epoch, sum(batch.num_rows for batch in rows))
            return 0
    except BaseException:
        clients.drop(settings)
        raise
    return _transaction(options, settings, epoch, rows)


def _transaction(
    options: SinkOptions,
    settings: dict[str, str],
    epoch: Epoch,
    rows: Iterable["pa.RecordBatch"],
) -> int:
    producer = clients.producer(settings)
    sending = Sending(producer, options.topic, options.timestamp_column)
    try:
        producer.begin_transaction()
        sending.send(rows)
        assert sending.first_topic is not None
        mark = Mark(epoch.batch_id, sending.rows).render(epoch.query_id)
        # Any partition that exists will do; the group belongs to this task alone.
        place = TopicPartition(sending.first_topic, 0)
        group = GroupMetadata(epoch.transactional_id)
        producer.commit_with_offsets({place: mark}, group, DELIVERY_SECONDS)
    except BaseException:
        clients.drop(settings)
        raise
    clients.wrote(settings, epoch)
    freeze_imports()
    return sending.rows


def _read_mark(admin: Admin, group: str) -> Mark | None:
    committed = admin.list_group_offsets([group], require_stable=True)[group]
    latest = max(committed.values(), default=None, key=lambda item: item.offset)
    return None if latest is None else Mark.read(latest)


def _check_replay(mark: Mark, epoch: Epoch, rows: int) -> None:
    if mark.batch_id == epoch.batch_id and mark.rows != rows:
        raise ReplayError(
            f"micro-batch {epoch.batch_id} of query {epoch.query_id} was written with {mark.rows} "
            f"rows in task {epoch.task} and comes again with {rows}: its rows were cut into tasks "
            "differently, so what is missing cannot be told"
        )


def _transactional(options: SinkOptions, epoch: Epoch) -> dict[str, str]:
    return {
        "transaction.timeout.ms": TRANSACTION_TIMEOUT_MS,
        **options.client,
        "transactional.id": epoch.transactional_id,
    }


def _key(settings: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    return tuple(sorted(settings.items()))
