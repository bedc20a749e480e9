"""The streaming source: the position of a query, the end of the next micro-batch, its tasks.

The reader exists in one process per query, which plans, and pickled in the tasks of the executors,
which read. Spark passes offsets as JSON; `planner` computes with them.

A query with a limit per trigger requests the latest offsets for the next micro-batch while the
current one is processed (`LookAhead`). The result is used only if the backlog exceeds the limit:
records that arrived since then do not change the next micro-batch. With a smaller backlog the
offsets are requested again when Spark needs them, so that no record waits longer than necessary.
"""

import logging
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pyspark.sql.datasource import DataSourceStreamReader, InputPartition
from pyspark.sql.streaming.datasource import (
    ReadAllAvailable,
    ReadLimit,
    ReadMaxRows,
    ReadMinRows,
    SupportsTriggerAvailableNow,
)
from pyspark.sql.types import StructType

from barnabas.model.errors import BarnabasError
from barnabas.model.ids import TopicPartition, Uuid
from barnabas.runtime.clock import SystemClock
from barnabas.spark.source.columns import RowDecoder
from barnabas.spark.source.offsets import LatestOffsets, OffsetJson, Offsets, read, render
from barnabas.spark.source.options import SourceOptions
from barnabas.spark.source.planner import (
    Advance,
    ClusterView,
    DataLossError,
    RangesPartition,
    TriggerLimits,
    advance,
    pack_ranges,
    ranges_between,
    split_ranges,
)
from barnabas.spark.source.range_reader import read_task
from barnabas.spark.source.schema import check_schema
from barnabas.spark.source.small_batches import SmallBatches

if TYPE_CHECKING:
    import pyarrow as pa

    from barnabas.spark.source.cluster import SourceCluster
    from barnabas.spark.source.group_offsets import GroupMirror

FRESH_SECONDS = 1.0
"""An older view is discarded: partitions may have been added, deleted or truncated."""
YIELD_SECONDS = 0.004
"""A pause, so that the plan that Spark waits for is sent first: both need the interpreter lock."""
LONG_POLL_MS = 100
POLL_SECONDS = 0.02
"""Spark calls an idle query every 10 ms; waiting here limits the requests to the brokers."""


class LookAhead:
    """Requests the latest offsets for the next micro-batch ahead of time.

    Owned by the driver side of one query; does nothing if `limit` is None.
    """

    def __init__(self, load_view: Callable[[], ClusterView], limit: int | None) -> None:
        self._load_view = load_view
        self._limit = limit
        self._pause = threading.Event()
        self._thread: threading.Thread | None = None
        self._seen: tuple[float, ClusterView] | None = None

    def begin(self) -> None:
        """Starts the request in another thread."""
        if self._limit is None or self._thread is not None:
            return
        self._thread = threading.Thread(target=self._request, name="look-ahead", daemon=True)
        self._thread.start()

    def take(self, start: Mapping[TopicPartition, int]) -> ClusterView | None:
        """Returns the view, if it is sufficient for a query whose position is `start`."""
        thread, self._thread = self._thread, None
        if thread is None:
            return None
        thread.join()
        seen, self._seen = self._seen, None
        if seen is None or time.monotonic() - seen[0] > FRESH_SECONDS:
            return None
        return seen[1] if self._is_sufficient(start, seen[1].latest) else None

    def close(self) -> None:
        """Waits for the thread. Close the cluster first: that ends a request in flight."""
        self._pause.set()
        if self._thread is not None:
            self._thread.join()

    def _request(self) -> None:
        self._pause.wait(YIELD_SECONDS)
        begin = time.monotonic()
        try:
            self._seen = begin, self._load_view()
        except BarnabasError:
            self._seen = None  # the request is repeated by the planner, which reports the error

    def _is_sufficient(
        self, start: Mapping[TopicPartition, int], latest: Mapping[TopicPartition, int]
    ) -> bool:
        assert self._limit is not None
        if start.keys() != latest.keys():
            return False
        ahead = [latest[topic_partition] - position for topic_partition, position in start.items()]
        return min(ahead, default=0) >= 0 and sum(ahead) >= self._limit


_log = logging.getLogger("barnabas.spark")


class StreamReader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """Implements Spark's interface of a streaming source, with Spark's method names.

    Spark calls each method from one thread at a time.
    """

    def __init__(self, options: SourceOptions, schema: StructType) -> None:
        self._options = options
        decoders = RowDecoder.of(options.formats, schema).decoders
        check_schema(schema, decoders)
        self._schema = schema
        self._planning: QueryPlanning | None = None
        self._small = SmallBatches(options, schema, decoded=bool(decoders))

    def initialOffset(self) -> OffsetJson:
        return render(self._plan().initial())

    def latestOffset(self, start: dict[str, Any], limit: ReadLimit) -> OffsetJson:
        everything = isinstance(limit, ReadAllAvailable)
        begin = read(start)
        end = self._plan().next_end(begin, limited=not everything)
        # Spark does not plan a micro-batch without new offsets, so records read for it would
        # stay in memory.
        if end != begin:
            self._small.begin(self._tasks(begin, end))
        return render(end)

    def getDefaultReadLimit(self) -> ReadLimit:
        """Returns a limit, so that only Trigger.Once reads all; this class applies the limits."""
        options = self._options
        # Spark passes this limit back to latestOffset, and ReadAllAvailable for Trigger.Once. The
        # kind of limit is all that this class uses; TriggerLimits has the numbers.
        if options.max_offsets_per_trigger is not None:
            return ReadMaxRows(options.max_offsets_per_trigger)
        return ReadMinRows(options.min_offsets_per_trigger or 1)

    def prepareForTriggerAvailableNow(self) -> None:
        self._plan().fix_target()

    def reportLatestOffset(self) -> OffsetJson | None:
        seen = self._plan().seen
        return None if seen is None else render(seen.latest)

    def partitions(self, start: dict[str, Any], end: dict[str, Any]) -> Sequence[InputPartition]:
        # Spark also calls this after a restart for a micro-batch whose offsets are in the
        # checkpoint but which was not committed. The plan must depend on the offsets alone: the
        # sink finds the rows that it has written by the number of the task.
        planned = self._tasks(read(start), read(end))
        self._small.plan(planned)
        # Planning exists only in the process that computes offsets; a copy of the reader in
        # another process must not open connections for it.
        if self._planning is not None:
            self._planning.look_ahead()
        return planned

    def getCache(self, start: object, end: object) -> "Iterator[pa.RecordBatch] | None":
        """Returns the records of the last plan, if the driver has read them (Spark's name)."""
        return self._small.take()

    def read(self, partition: InputPartition) -> Iterator["pa.RecordBatch"]:
        assert isinstance(partition, RangesPartition)
        return read_task(partition, self._options, self._schema)

    def commit(self, end: dict[str, Any]) -> None:
        """Does nothing: the checkpoint holds the position."""

    def stop(self) -> None:
        planning, self._planning = self._planning, None
        if planning is not None:
            planning.close()

    def _tasks(self, start: Offsets, end: Offsets) -> list[RangesPartition]:
        least, most = self._options.min_partitions, self._options.max_records_per_partition
        ranges = ranges_between(start, end)
        if least is None and most is None:
            tasks = pack_ranges(ranges)
        else:
            cut = split_ranges(ranges, min_partitions=least, max_records=most)
            tasks = [(item,) for item in cut]
        return [RangesPartition(task, index) for index, task in enumerate(tasks)]

    def _plan(self) -> "QueryPlanning":
        if self._planning is None:
            # Start-up time: each of Spark's processes imports only what it needs.
            from barnabas.spark.source.cluster import SourceCluster
            from barnabas.spark.source.group_offsets import GroupMirror

            options = self._options
            mirror = None if options.group is None else GroupMirror(options.client, options.group)
            self._planning = QueryPlanning(options, SourceCluster(options), mirror)
        return self._planning


class DriverReadStreamReader(StreamReader):
    """Experimental: the driver reads small micro-batches, see `small_batches`.

    Spark takes records from the driver only from readers of a private class of PySpark. This reader
    shows that class while it has records to hand over.
    """

    @property  # type: ignore[misc]  # object has no such property
    def __class__(self) -> type[Any]:
        return self._small.shown_class or DriverReadStreamReader


def stream_reader(options: SourceOptions, schema: StructType) -> StreamReader:
    """Returns the reader of a query; the option `smallBatchesOnDriver` selects the class."""
    kind = DriverReadStreamReader if options.read_on_driver else StreamReader
    return kind(options, schema)


class QueryPlanning:
    """The driver side of a query; created at the first use, as readers are pickled without it."""

    def __init__(
        self,
        options: SourceOptions,
        cluster: "SourceCluster",
        mirror: "GroupMirror | None" = None,
    ) -> None:
        self.seen: ClusterView | None = None
        self._mirror = mirror
        self._options = options
        self._cluster = cluster
        self._clock = SystemClock()
        self._pause = threading.Event()
        self._initial: Offsets | None = None
        self._target: ClusterView | None = None
        self._known_ids: dict[str, Uuid] = {}
        self._ahead = LookAhead(cluster.view, options.max_offsets_per_trigger)
        self._admission = TriggerLimits(
            options.max_offsets_per_trigger,
            options.min_offsets_per_trigger,
            options.max_trigger_delay_ms,
        )

    def close(self) -> None:
        self._pause.set()
        if self._mirror is not None:
            self._mirror.close()
        # First the cluster, then LookAhead: closing the connections ends the request for which
        # the thread of LookAhead waits.
        self._cluster.close()
        self._ahead.close()

    def initial(self) -> Offsets:
        """Returns the start of a new query. Spark calls it twice and must get the same offsets."""
        if self._initial is None:
            topic_partitions = self._cluster.partitions()
            # With AvailableNow the target was fixed before. Resolving "latest" again would start
            # after the target if records arrived in between, and the log would look truncated.
            if self._target is not None and isinstance(self._options.starting, LatestOffsets):
                self._initial = dict(self._target.latest)
            else:
                self._initial = self._cluster.resolve(
                    self._options.starting, topic_partitions, "startingOffsets"
                )
        return self._initial

    def fix_target(self) -> None:
        """Fixes the end for Trigger.AvailableNow: later records are left for the next run."""
        self._target = self._cluster.view()

    def look_ahead(self) -> None:
        """Requests the latest offsets for the next micro-batch in the background."""
        if self._target is None:
            self._ahead.begin()

    def next_end(self, start: Offsets, *, limited: bool) -> Offsets:
        """Returns the end of the next micro-batch; waits up to LONG_POLL_MS for new records."""
        deadline = self._clock.monotonic_ms() + LONG_POLL_MS
        # First call after a restart from a checkpoint. The checkpoint has no topic ids, so a
        # topic that was deleted and created again while the query was down is recognised by the
        # ids in the group.
        if self.seen is None and self._mirror is not None and start != self._initial:
            self._known_ids.update(self._mirror.topic_ids(start))
        while True:
            end = self._end(start, limited)
            waits = limited and self._target is None
            if end != start or not waits or self._clock.monotonic_ms() >= deadline:
                self._commit(start, end)
                return end
            self._pause.wait(POLL_SECONDS)

    def _commit(self, start: Offsets, end: Offsets) -> None:
        """Commits `start`: Spark plans the next micro-batch when all before has been processed."""
        if self._mirror is None:
            return
        self._mirror.processed(start, end, self._known_ids)
        if self._target is not None and start == end:
            # The query ends after this call, and its process with it.
            self._mirror.flush()

    def _end(self, start: Offsets, limited: bool) -> Offsets:
        # The view that was requested ahead is sufficient only when the limit decides the end.
        view = self._target or self._ahead.take(start) or self._cluster.view()
        step = advance(start, view, self._known_ids)
        # Losses are reported before the ids are stored: a failed query sees the same loss again
        # when it is restarted, instead of continuing silently.
        self._report_losses(step)
        self.seen = view
        self._known_ids.update(view.topic_ids)
        if not limited:
            return step.end
        if self._target is not None:
            # With a fixed end no more records can arrive, so a minimum must not delay.
            self._admission.last_ms = None
        admitted = self._admission.admit(step.base, step.end, self._clock.monotonic_ms())
        # A removed or truncated partition changes the offsets even below the minimum.
        return start if admitted == step.base and step.base == start else admitted

    def _report_losses(self, step: Advance) -> None:
        if not step.losses:
            return
        if self._options.fail_on_data_loss:
            raise DataLossError(step.losses)
        for loss in step.losses:
            _log.warning("continuing without lost records: %s", loss)
