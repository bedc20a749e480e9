"""Runs one stage as one streaming query: inputs, stateful node, outputs.

Spark's own sink writes the rows if it can. Otherwise a function processes each micro-batch: it runs
the step of the stateful node on kept state, writes every output, each exactly once by the query's
id and the micro-batch's number, and finally the manifest of the state.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sf
from pyspark.sql.streaming.query import StreamingQuery
from pyspark.sql.streaming.readwriter import DataStreamWriter

from barnabas.model.errors import LocalError
from barnabas.spark.options import FORMAT, ClusterSettings
from barnabas.spark.sink.options import QUERY_ID
from barnabas.streams.engine.aggregates import (
    grouped,
    table_groups_step,
    windows_step,
    with_watermark,
)
from barnabas.streams.engine.joins import (
    joined_streams,
    stays_in_place,
    stream_table_step,
    tables_step,
    tagged,
)
from barnabas.streams.engine.lowering import errors_of, lower, record_of
from barnabas.streams.engine.python_rows import fold_step
from barnabas.streams.engine.row_errors import ErrorHandling
from barnabas.streams.engine.rows import (
    as_records,
    key_text,
    last_changes,
    own_columns,
    read_records,
    read_topic,
    write_options,
)
from barnabas.streams.engine.state import BatchState, Folder, StateStore
from barnabas.streams.nodes import (
    Aggregate,
    CallSink,
    Fold,
    RecordSink,
    RecordSource,
    RowSink,
    Sink,
    SparkSink,
    StreamJoin,
    StreamTableJoin,
    TableJoin,
    Topic,
    TopologyNode,
    ViewSink,
)
from barnabas.streams.stages import Stage, Trigger, is_native, roots_of
from barnabas.streams.views import ViewChange, ViewFile
from barnabas.streams.windows import Emit


@dataclass(slots=True)
class QueryContext:
    """The values that all queries of a run share."""

    spark: SparkSession
    cluster: ClusterSettings
    checkpoint: str
    topics: Mapping[TopologyNode, Topic]
    """Sources and cuts, with their schemas."""
    handling: ErrorHandling
    """The error policies of Python functions."""


@dataclass(slots=True)
class StageQuery:
    """A stage that is ready to run; a restart continues from its checkpoint."""

    stage: Stage
    context: QueryContext
    name: str
    checkpoint: str
    """The checkpoint directory of this query."""
    store: StateStore | None = field(default=None, init=False)

    @property
    def written_topics(self) -> list[str]:
        """The topics that this query writes."""
        core = self.stage.core
        late = [core.late_topic] if isinstance(core, Aggregate) and core.late_topic else []
        return [s.topic.name for s in self.stage.outputs if isinstance(s, RowSink)] + late

    def start(self, trigger: Trigger) -> StreamingQuery:
        """Builds the query and starts it."""
        query: StreamingQuery = trigger.apply(self.writer(self.frame())).start()
        return query

    def writer(self, frame: DataFrame) -> DataStreamWriter:
        """Returns Spark's writer of `frame()`, without a trigger and not started."""
        sink = self._direct_sink()
        if sink is not None:
            writer = self._direct(frame, sink)
        else:
            writer = frame.writeStream.outputMode(self._output_mode()).foreachBatch(self._work())
        return writer.queryName(self.name).option("checkpointLocation", self.checkpoint)

    def _output_mode(self) -> str:
        core, outputs = self.stage.core, self.stage.outputs
        if core is None and len(outputs) == 1 and isinstance(outputs[0], CallSink | RecordSink):
            return outputs[0].mode
        changing = isinstance(core, Aggregate) and core.emit is Emit.CHANGES and is_native(core)
        # Append mode holds back a window until the watermark has passed its end, which is
        # Emit.FINAL. Update mode writes each change.
        return "update" if changing else "append"

    def frame(self) -> DataFrame:
        """Returns the streaming frame whose micro-batches the outputs, or the step on state,
        process.
        """
        known = {node: self._read(node) for node in self.stage.reads}
        core = self.stage.core
        if core is None:
            return self._lowered(self._root(), known)
        parents = [self._lowered(parent, known) for parent in core.parents]
        if isinstance(core, Aggregate):
            if not is_native(core):
                return parents[0]
            return grouped(with_watermark(parents[0], core.window), core)
        if isinstance(core, StreamJoin):
            return joined_streams(parents[0], parents[1], core)
        return parents[0] if isinstance(core, Fold) else tagged(parents[0], parents[1])

    def _read(self, node: TopologyNode) -> DataFrame:
        spark, cluster = self.context.spark, self.context.cluster
        if isinstance(node, RecordSource):
            return read_records(spark, node, cluster)
        return read_topic(spark, self.context.topics[node], cluster, streaming=True)

    def close(self) -> None:
        if self.store is not None:
            self.store.close()
            self.store = None

    # --- Spark's own sink ---

    def _direct_sink(self) -> RowSink | RecordSink | SparkSink | None:
        """Returns the only output, if it can be a part of the streaming plan."""
        core, outputs = self.stage.core, self.stage.outputs
        if len(outputs) != 1 or not isinstance(outputs[0], RowSink | RecordSink | SparkSink):
            return None
        sink = outputs[0]
        changing = isinstance(core, Aggregate) and core.emit is Emit.CHANGES
        # Spark has no update mode for Python sinks.
        if isinstance(sink, RowSink) and changing:
            return None
        if isinstance(sink, RecordSink) and sink.mode == "update":
            return None
        return sink if core is None or is_native(core) else None

    def _direct(self, frame: DataFrame, sink: RowSink | RecordSink | SparkSink) -> DataStreamWriter:
        rows = self._lowered(sink.parent, {self._root(): frame})
        if isinstance(sink, RowSink):
            writer = as_records(rows, sink.topic).writeStream.format(FORMAT).outputMode("append")
            writer = writer.options(**write_options(self.context.cluster, sink.topic.name))
        elif isinstance(sink, RecordSink):
            writer = rows.writeStream.format(FORMAT).outputMode(sink.mode)
            writer = writer.options(**self._record_options(sink))
            writer = writer.option("deliveryGuarantee", sink.guarantee)
        else:
            own = rows.select(*(f"`{name}`" for name in own_columns(rows)))
            writer = own.writeStream.format(sink.format).outputMode(sink.mode)
            writer = writer.options(**dict(sink.options))
        return writer

    def _record_options(self, sink: RecordSink) -> dict[str, str]:
        cluster = self.context.cluster
        return {**cluster.sink_options(), "topic": sink.topic, **dict(sink.options)}

    def _lowered(self, node: TopologyNode, known: Mapping[TopologyNode, DataFrame]) -> DataFrame:
        return lower(node, known, self.context.handling)

    def _root(self) -> TopologyNode:
        """Returns the node whose rows the streaming frame has.

        With a single output these are the rows that the output writes, so that Spark aggregates
        over the stream, and not each micro-batch alone, if an `ApplyFrame` node aggregates.
        """
        stage = self.stage
        if stage.core is not None:
            return stage.core
        shared = len(stage.outputs) > 1 and len(stage.reads) == 1
        return stage.reads[0] if shared else stage.outputs[0].parent

    # --- micro-batches ---

    def _work(self) -> Callable[[DataFrame, int], None]:
        core = self.stage.core
        if core is not None and not is_native(core):
            return self._kept_batch
        root = self._root()
        return lambda frame, batch_id: self._plain_batch(frame, batch_id, root)

    def _plain_batch(self, frame: DataFrame, batch_id: int, root: TopologyNode) -> None:
        # Without the cache every output would read the topics again, and a function with side
        # effects or random results would run once per output.
        shared = frame.persist() if len(self.stage.outputs) > 1 else frame
        try:
            self._write_all(shared, batch_id, root)
        finally:
            shared.unpersist()

    def _kept_batch(self, frame: DataFrame, batch_id: int) -> None:
        if self.store is None:
            self.store = StateStore(frame.sparkSession, f"{self.checkpoint}-state")
        step = self.store.begin(batch_id)
        core = self.stage.core
        assert core is not None
        try:
            if isinstance(core, StreamTableJoin):
                self._stream_table_batch(frame, batch_id, core, step)
            else:
                self._stepped_batch(step.hold(frame), batch_id, core, step)
        finally:
            step.release()
        # Last of all: a failure before this line leaves the manifest of the earlier micro-batch
        # as the newest, and the replay starts from the same state as this attempt. The outputs
        # recognise the replay by the number of the micro-batch.
        step.commit()

    def _stream_table_batch(
        self, frame: DataFrame, batch_id: int, core: StreamTableJoin, step: BatchState
    ) -> None:
        """Joins a micro-batch; if the table did not change, the rows are read once and not
        cached."""
        table_changed = self._table_changed(core.right, batch_id)
        whole = step.hold(frame) if table_changed else frame
        result = stream_table_step(whole, core, step, table_changed=table_changed)
        # A replay must produce the same rows in the same tasks (see the sink). A join does not
        # guarantee this: Spark may distribute its rows differently when the sizes of the inputs
        # differ. So the rows are distributed again by key.
        settled = result if stays_in_place(step) else _settled(result)
        self._write_all(settled, batch_id, core)

    def _stepped_batch(
        self, frame: DataFrame, batch_id: int, core: TopologyNode, step: BatchState
    ) -> None:
        late: DataFrame | None = None
        if isinstance(core, TableJoin):
            result = tables_step(frame, core, step)
        elif isinstance(core, Fold):
            errors = errors_of(core, self.context.handling)
            result = fold_step(frame, core, record_of(core.parent), step, errors)
        elif isinstance(core, Aggregate) and core.window is None:
            result = table_groups_step(frame, core, step)
        elif isinstance(core, Aggregate):
            result, late = windows_step(frame, core, step)
        else:
            raise LocalError(f"{core.label!r} has no step on kept state")
        settled = _settled(result)
        several = len(self.stage.outputs) > 1
        self._write_all(step.hold(settled) if several else settled, batch_id, core)
        if late is not None and isinstance(core, Aggregate) and core.late_topic:
            self._write_topic(_settled(late), Topic(core.late_topic), batch_id, "late")

    # --- outputs ---

    def _write_all(self, frame: DataFrame, batch_id: int, root: TopologyNode) -> None:
        for number, sink in enumerate(self.stage.outputs):
            self._write(self._lowered(sink.parent, {root: frame}), sink, batch_id, str(number))

    def _write(self, rows: DataFrame, sink: Sink, batch_id: int, suffix: str) -> None:
        if isinstance(sink, RowSink):
            self._write_topic(rows, sink.topic, batch_id, suffix)
        elif isinstance(sink, ViewSink):
            write_view(rows, sink, f"{_query_id(rows)}-{suffix}", batch_id)
        elif isinstance(sink, RecordSink):
            self._write_records(rows, sink, batch_id)
        elif isinstance(sink, CallSink):
            sink.function(rows, batch_id)
        elif isinstance(sink, SparkSink):
            own = rows.select(*(f"`{name}`" for name in own_columns(rows)))
            own.write.format(sink.format).mode("append").options(**dict(sink.options)).save()

    def _write_topic(self, rows: DataFrame, topic: Topic, batch_id: int, suffix: str) -> None:
        options = write_options(self.context.cluster, topic.name)
        query_id = f"{_query_id(rows)}-{suffix}"
        as_records(rows, topic).write.format(FORMAT).mode("append").options(
            **options, queryId=query_id, batchId=str(batch_id)
        ).save()

    def _write_records(self, rows: DataFrame, sink: RecordSink, batch_id: int) -> None:
        options = self._record_options(sink)
        if sink.guarantee == "exactly-once":
            # The query id without a suffix, for compatibility: a checkpoint of an earlier version
            # must find its transactions.
            options |= {"queryId": _query_id(rows), "batchId": str(batch_id)}
        rows.write.format(FORMAT).mode("append").options(**options).save()

    def _table_changed(self, table: TopologyNode, batch_id: int) -> bool:
        """Returns whether the table's topic has new records in this micro-batch, by Spark's offset
        log.

        Returns True if the log cannot be read.
        """
        topic = self._topic_under(table)
        folder = Folder(self.context.spark, self.checkpoint)
        try:
            now = _offsets(folder.read(f"offsets/{batch_id}"), topic)
            was = _offsets(folder.read(f"offsets/{batch_id - 1}"), topic) if batch_id else None
        except Exception:  # noqa: BLE001 - any Java exception; the slow path is always correct
            return True
        return not now or now != was

    def _topic_under(self, table: TopologyNode) -> str:
        return self.context.topics[roots_of(table)[0]].name


def _offsets(log: str, topic: str) -> list[object]:
    """Returns the offsets of a topic in a file of Spark's offset log: a line of JSON per source."""
    found = []
    # The first line is the version of the format, the second the metadata of the micro-batch;
    # then one line per source.
    for line in log.splitlines()[2:]:
        position = json.loads(line)
        if isinstance(position, dict) and topic in position:
            found.append(position[topic])
    return found


def _settled(rows: DataFrame) -> DataFrame:
    """Repartitions rows deterministically: a replay has the same rows in the same tasks, in key
    order.
    """
    tasks = int(rows.sparkSession.conf.get("spark.sql.shuffle.partitions") or 200)
    alone = sf.when(sf.col("_key").isNull(), sf.col("_offset"))
    return rows.repartition(tasks, sf.col("_key"), alone).sortWithinPartitions(
        "_partition", "_offset"
    )


def _query_id(frame: DataFrame) -> str:
    found = frame.sparkSession.sparkContext.getLocalProperty(QUERY_ID)
    if found is None:
        raise LocalError("the function was not called by a streaming query")
    return found


def write_view(rows: DataFrame, sink: ViewSink, query: str, batch_id: int) -> None:
    """Writes one micro-batch to a view, unless it was written before."""
    last = last_changes(rows).select(
        key_text(sf.col("_key"), rows.schema["_key"].dataType).cast("string").alias("key"),
        sf.unix_millis("_timestamp").alias("time"),
        sf.when(
            ~sf.col("_tombstone"),
            sf.to_json(sf.struct(*(sf.col(f"`{name}`") for name in own_columns(rows)))),
        ).alias("value"),
    )
    with ViewFile(sink.path, sink.name) as view:
        view.apply(query, batch_id, _changes(last))


def _changes(frame: DataFrame) -> Iterator[ViewChange]:
    for row in frame.toLocalIterator(prefetchPartitions=True):
        yield ViewChange(row["key"], row["value"], row["time"])
