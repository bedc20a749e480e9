"""One stage as one streaming query: from its inputs, through its stateful node, to its outputs.

Where Spark's own sink can take the rows as they come, it does. Otherwise each micro-batch goes
through a function: the stateful node's step on kept state, then every output, each exactly once by
the query's id and the micro-batch's number, then the state's manifest.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sf
from pyspark.sql.streaming.query import StreamingQuery

from barnabas.model.errors import LocalError
from barnabas.spark import FORMAT
from barnabas.spark.client_settings import ClusterSettings
from barnabas.streams.engine.folding import fold_step
from barnabas.streams.engine.grouping import grouped, with_watermark
from barnabas.streams.engine.joining import joined_streams
from barnabas.streams.engine.lowering import errors_of, lower, record_of
from barnabas.streams.engine.maintained import table_groups_step, windows_step
from barnabas.streams.engine.row_errors import ErrorHandling
from barnabas.streams.engine.rows import (
    as_records,
    own_columns,
    read_records,
    read_topic,
    write_options,
)
from barnabas.streams.engine.state import Folder, Step, Store
from barnabas.streams.engine.table_joins import (
    stays_in_place,
    stream_table_step,
    tables_step,
    tagged,
)
from barnabas.streams.engine.view_writer import write_view
from barnabas.streams.nodes import (
    Aggregate,
    CallSink,
    Fold,
    FormatSink,
    Node,
    RecordSink,
    RecordSource,
    Sink,
    StreamJoin,
    StreamTableJoin,
    TableJoin,
    Topic,
    TopicSink,
    ViewSink,
)
from barnabas.streams.stages import Stage, is_native, roots_of
from barnabas.streams.windows import Emit

QUERY_ID = "sql.streaming.queryId"


@dataclass(slots=True)
class Setting:
    """What every query of a run needs to know."""

    spark: SparkSession
    cluster: ClusterSettings
    checkpoint: str
    topics: Mapping[Node, Topic]
    """Sources and cuts, with their schemas."""
    handling: ErrorHandling
    """The error policies of Python functions."""


@dataclass(slots=True)
class Trigger:
    """How often: everything that is there now, or again and again."""

    available_now: bool = True
    interval: str | None = None

    def apply(self, writer: Any) -> Any:
        if self.available_now:
            return writer.trigger(availableNow=True)
        return writer.trigger(processingTime=self.interval or "0 seconds")


@dataclass(slots=True)
class StageQuery:
    """A stage ready to run; started again it carries on from its checkpoint."""

    stage: Stage
    setting: Setting
    name: str
    checkpoint: str
    """The checkpoint directory of this query."""
    store: Store | None = field(default=None, init=False)

    @property
    def written_topics(self) -> list[str]:
        core = self.stage.core
        late = [core.late_topic] if isinstance(core, Aggregate) and core.late_topic else []
        return [s.topic.name for s in self.stage.outputs if isinstance(s, TopicSink)] + late

    def start(self, trigger: Trigger) -> StreamingQuery:
        """Builds the query and starts it."""
        query: StreamingQuery = trigger.apply(self.writer(self.frame())).start()
        return query

    def writer(self, frame: DataFrame) -> Any:
        """Returns Spark's writer of `frame()`, without a trigger and not started."""
        sink = self._direct_sink()
        writer: Any
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
        return "update" if changing else "append"

    def frame(self) -> DataFrame:
        """The streaming frame whose micro-batches the outputs, or the step on state, work on."""
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

    def _read(self, node: Node) -> DataFrame:
        spark, cluster = self.setting.spark, self.setting.cluster
        if isinstance(node, RecordSource):
            return read_records(spark, node, cluster)
        return read_topic(spark, self.setting.topics[node], cluster, streaming=True)

    def close(self) -> None:
        if self.store is not None:
            self.store.close()
            self.store = None

    # --- Spark's own sink ---

    def _direct_sink(self) -> TopicSink | RecordSink | FormatSink | None:
        """Returns the only output, if it can be a part of the streaming plan."""
        core, outputs = self.stage.core, self.stage.outputs
        if len(outputs) != 1 or not isinstance(outputs[0], TopicSink | RecordSink | FormatSink):
            return None
        sink = outputs[0]
        changing = isinstance(core, Aggregate) and core.emit is Emit.CHANGES
        # Spark has no update mode for Python sinks.
        if isinstance(sink, TopicSink) and changing:
            return None
        if isinstance(sink, RecordSink) and sink.mode == "update":
            return None
        return sink if core is None or is_native(core) else None

    def _direct(self, frame: DataFrame, sink: TopicSink | RecordSink | FormatSink) -> Any:
        rows = self._lowered(sink.parent, {self._root(): frame})
        writer: Any
        if isinstance(sink, TopicSink):
            writer = as_records(rows, sink.topic).writeStream.format(FORMAT).outputMode("append")
            writer = writer.options(**write_options(self.setting.cluster, sink.topic.name))
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
        cluster = self.setting.cluster
        return {**cluster.sink_options(), "topic": sink.topic, **dict(sink.options)}

    def _lowered(self, node: Node, known: Mapping[Node, DataFrame]) -> DataFrame:
        return lower(node, known, self.setting.handling)

    def _root(self) -> Node:
        """The node whose rows the streaming frame has.

        With a single output these are the rows that the output writes, so that Spark aggregates
        over the stream what an `Apply` node aggregates, and not each micro-batch alone.
        """
        stage = self.stage
        if stage.core is not None:
            return stage.core
        shared = len(stage.outputs) > 1 and len(stage.reads) == 1
        return stage.reads[0] if shared else stage.outputs[0].parent

    # --- micro-batch by micro-batch ---

    def _work(self) -> Callable[[DataFrame, int], None]:
        core = self.stage.core
        if core is not None and not is_native(core):
            return self._kept_batch
        root = self._root()
        return lambda frame, batch_id: self._plain_batch(frame, batch_id, root)

    def _plain_batch(self, frame: DataFrame, batch_id: int, root: Node) -> None:
        shared = frame.persist() if len(self.stage.outputs) > 1 else frame
        try:
            self._write_all(shared, batch_id, root)
        finally:
            shared.unpersist()

    def _kept_batch(self, frame: DataFrame, batch_id: int) -> None:
        if self.store is None:
            self.store = Store(frame.sparkSession, f"{self.checkpoint}-state")
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
        step.commit()

    def _stream_table_batch(
        self, frame: DataFrame, batch_id: int, core: StreamTableJoin, step: Step
    ) -> None:
        """Without news of the table the rows pass through once, and nothing is kept."""
        news = self._has_news(core.right, batch_id)
        whole = step.hold(frame) if news else frame
        result = stream_table_step(whole, core, step, news=news)
        settled = result if stays_in_place(step) else _settled(result)
        self._write_all(settled, batch_id, core)

    def _stepped_batch(self, frame: DataFrame, batch_id: int, core: Node, step: Step) -> None:
        late: DataFrame | None = None
        if isinstance(core, TableJoin):
            result = tables_step(frame, core, step)
        elif isinstance(core, Fold):
            errors = errors_of(core, self.setting.handling)
            result = fold_step(frame, core, record_of(core.parent), step, errors)
        elif isinstance(core, Aggregate) and core.window is None:
            result = table_groups_step(frame, core, step)
        elif isinstance(core, Aggregate):
            result, late = windows_step(frame, core, step)
        else:
            raise LocalError(f"{core.label!r} keeps no state of its own")
        settled = _settled(result)
        several = len(self.stage.outputs) > 1
        self._write_all(step.hold(settled) if several else settled, batch_id, core)
        if late is not None and isinstance(core, Aggregate) and core.late_topic:
            self._write_topic(_settled(late), Topic(core.late_topic), batch_id, "late")

    # --- outputs ---

    def _write_all(self, frame: DataFrame, batch_id: int, root: Node) -> None:
        for number, sink in enumerate(self.stage.outputs):
            self._write(self._lowered(sink.parent, {root: frame}), sink, batch_id, str(number))

    def _write(self, rows: DataFrame, sink: Sink, batch_id: int, suffix: str) -> None:
        if isinstance(sink, TopicSink):
            self._write_topic(rows, sink.topic, batch_id, suffix)
        elif isinstance(sink, ViewSink):
            write_view(rows, sink, f"{_query_id(rows)}-{suffix}", batch_id)
        elif isinstance(sink, RecordSink):
            self._write_records(rows, sink, batch_id)
        elif isinstance(sink, CallSink):
            sink.function(rows, batch_id)
        elif isinstance(sink, FormatSink):
            own = rows.select(*(f"`{name}`" for name in own_columns(rows)))
            own.write.format(sink.format).mode("append").options(**dict(sink.options)).save()

    def _write_topic(self, rows: DataFrame, topic: Topic, batch_id: int, suffix: str) -> None:
        options = write_options(self.setting.cluster, topic.name)
        query_id = f"{_query_id(rows)}-{suffix}"
        as_records(rows, topic).write.format(FORMAT).mode("append").options(
            **options, queryId=query_id, batchId=str(batch_id)
        ).save()

    def _write_records(self, rows: DataFrame, sink: RecordSink, batch_id: int) -> None:
        options = self._record_options(sink)
        if sink.guarantee == "exactly-once":
            # The bare query id, as pipelines have always used: a checkpoint of an earlier version
            # finds the transactions that it has written.
            options |= {"queryId": _query_id(rows), "batchId": str(batch_id)}
        rows.write.format(FORMAT).mode("append").options(**options).save()

    def _has_news(self, table: Node, batch_id: int) -> bool:
        """Whether the table's topic moved in this micro-batch, as Spark's own log of offsets says.

        When the log cannot tell, it may have.
        """
        topic = self._topic_under(table)
        folder = Folder(self.setting.spark, self.checkpoint)
        try:
            now = _offsets(folder.read(f"offsets/{batch_id}"), topic)
            was = _offsets(folder.read(f"offsets/{batch_id - 1}"), topic) if batch_id else None
        except Exception:  # noqa: BLE001 - whatever Java throws: the slow way is always right
            return True
        return not now or now != was

    def _topic_under(self, table: Node) -> str:
        return self.setting.topics[roots_of(table)[0]].name


def _offsets(log: str, topic: str) -> list[object]:
    """The positions in a topic, in a file of Spark's offset log: a line of JSON per source."""
    found = []
    for line in log.splitlines()[2:]:
        position = json.loads(line)
        if isinstance(position, dict) and topic in position:
            found.append(position[topic])
    return found


def _settled(rows: DataFrame) -> DataFrame:
    """The same rows in the same tasks whenever they are computed, each key's in order."""
    tasks = int(rows.sparkSession.conf.get("spark.sql.shuffle.partitions") or 200)
    alone = sf.when(sf.col("_key").isNull(), sf.col("_offset"))
    return rows.repartition(tasks, sf.col("_key"), alone).sortWithinPartitions(
        "_partition", "_offset"
    )


def _query_id(frame: DataFrame) -> str:
    found = frame.sparkSession.sparkContext.getLocalProperty(QUERY_ID)
    if found is None:
        raise LocalError("not in a streaming query")
    return found
