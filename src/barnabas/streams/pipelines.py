"""Compiles a pipeline (`barnabas.spark.pipeline`) to a topology and prepares its query.

The topology has a source of records, an `ApplyFrame` node for each step and one sink, so it is a
single query. Spark finds mistakes in expressions while the query is built. They are raised as
PipelineError with the key of the step, so that the runner can name the line of the file.

Checkpoints have the layout that pipelines have always had: the directory that the definition names
is the query's own, and the query has the pipeline's name. Records are written without the
timestamps of the source.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial

from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sf
from pyspark.sql.streaming.query import StreamingQuery

from barnabas.admin import Admin
from barnabas.model.errors import BarnabasError
from barnabas.spark import DatabaseSink, encode
from barnabas.spark import pipeline as definition
from barnabas.spark.jvm import short_reason
from barnabas.spark.options import admin_settings
from barnabas.spark.pipeline import AVAILABLE_NOW, INPUT_VIEW, RAW, PipelineError
from barnabas.streams.engine.row_errors import ErrorHandling
from barnabas.streams.engine.stage_query import QueryContext, StageQuery
from barnabas.streams.nodes import (
    ApplyFrame,
    CallSink,
    RecordSink,
    RecordSource,
    Sink,
    SparkSink,
    TopologyNode,
)
from barnabas.streams.stages import Trigger
from barnabas.streams.topics import create_written_topics
from barnabas.streams.topology import Topology

RECORD_COLUMNS = ("key", "topic", "partition", "offset", "timestamp")
"""Columns of a decoded record other than its value; rows of a pipeline have them as `_key` etc."""
TRACE_HEADERS = ("traceparent", "tracestate")


def topology_of(pipeline: definition.Pipeline) -> Topology:
    """Returns the topology that a pipeline defines; PipelineError names an invalid sink."""
    source = pipeline.source
    node: TopologyNode = RecordSource(source.topics, source.pattern, _source_options(pipeline))
    if source.format != RAW:
        node = _applied(node, "source", _flat)
    for number, step in enumerate(pipeline.steps):
        node = _applied(node, f"steps[{number}]", partial(apply_step, step=step))
    with _errors_name("sink"):
        sink = _sink(node, pipeline.sink, traced=_is_traced(pipeline))
    # Names of pipelines may have characters that names of topologies cannot have.
    name = "".join(char if char.isalnum() or char in "._-" else "_" for char in pipeline.name)
    return Topology(name, sink)


def pipeline_query(pipeline: definition.Pipeline, spark: SparkSession) -> StageQuery:
    """Returns the query of a pipeline; the topics that it writes exist afterwards."""
    topology = topology_of(pipeline)
    made = topology.plan()
    [stage] = made.stages
    with _errors_name("sink"), Admin(admin_settings(pipeline.cluster.client)) as admin:
        create_written_topics(topology, made, {}, admin)
    handling = ErrorHandling(topology, {})
    context = QueryContext(spark, pipeline.cluster, pipeline.checkpoint, {}, handling)
    return StageQuery(stage, context, pipeline.name, pipeline.checkpoint)


def start_query(query: StageQuery, trigger: str | None) -> StreamingQuery:
    """Starts the query of a pipeline; PipelineError names the part that Spark rejects."""
    with _errors_name("source"):
        frame = query.frame()
    with _errors_name("sink"):
        writer = query.writer(frame)
    with _errors_name("trigger"):
        now = trigger == AVAILABLE_NOW
        ready = Trigger(available_now=now, interval=None if now else trigger).apply(writer)
    started: StreamingQuery = ready.start()
    return started


def apply_step(frame: DataFrame, step: definition.Step) -> DataFrame:
    """Returns the rows after one step."""
    match step:
        case definition.Where(condition):
            return frame.where(condition)
        case definition.Select(columns):
            return frame.selectExpr(*columns)
        case definition.AddColumns(columns):
            return frame.withColumns({name: sf.expr(text) for name, text in columns.items()})
        case definition.Drop(columns):
            return frame.drop(*columns)
        case definition.Watermark(column, delay):
            return frame.withWatermark(column, delay)
        case definition.Sql(query):
            frame.createOrReplaceTempView(INPUT_VIEW)
            return frame.sparkSession.sql(query)
        case definition.Apply(function):
            result: DataFrame = function(frame)
            return result


def _source_options(pipeline: definition.Pipeline) -> tuple[tuple[str, str], ...]:
    source = pipeline.source
    options = {"startingOffsets": source.starting}
    if source.format != RAW:
        options["value.format"] = source.format
    if source.schema is not None:
        options["value.schema"] = source.schema
    if source.format != RAW and _is_traced(pipeline):
        options["includeHeaders"] = "true"  # rows of the format raw would get a visible column
    options.update(source.options)
    if pipeline.dead_letters is not None:
        options["on.decode.error"] = "dlq"
        if pipeline.dead_letters.topic is not None:
            options["dlq.topic"] = pipeline.dead_letters.topic
    return tuple(options.items())


def _is_traced(pipeline: definition.Pipeline) -> bool:
    """Whether the records that the pipeline writes continue the traces of those that it reads."""
    return str(pipeline.kafka.get("tracing.enable", "false")).lower() == "true"


def _flat(frame: DataFrame) -> DataFrame:
    """Returns the fields of the value as columns; a value without fields stays one column."""
    fields = getattr(frame.schema["value"].dataType, "names", None)
    value = "value" if fields is None else "value.*"
    columns = [
        (sf.col(name).cast("string") if name == "key" else sf.col(name)).alias(f"_{name}")
        for name in (*RECORD_COLUMNS, *(["headers"] if "headers" in frame.columns else []))
    ]
    return frame.select(value, *columns)


def _sink(node: TopologyNode, sink: definition.Sink, *, traced: bool) -> Sink:
    match sink:
        case definition.TopicSink():
            records = _applied(node, "sink", partial(_records, sink=sink, traced=traced))
            options = tuple(sink.options.items())
            return RecordSink(records, sink.topic, sink.mode, sink.guarantee, options)
        case definition.TableSink():
            table = DatabaseSink.at(sink.database, sink.table, keys=sink.keys)
            return CallSink(_applied(node, "sink", _own_columns), table, sink.mode)
        case definition.FormatSink():
            own = _applied(node, "sink", _own_columns)
            return SparkSink(own, sink.format, sink.mode, tuple(sink.options.items()))


def _records(frame: DataFrame, sink: definition.TopicSink, *, traced: bool) -> DataFrame:
    if sink.format == RAW:
        return frame
    added = {}
    if sink.key is not None:
        added["__key"] = sf.expr(sink.key).cast("string")
    if traced and "_headers" in frame.columns:  # steps that aggregate rows have no such column
        added["__headers"] = sf.filter("_headers", lambda header: header.key.isin(*TRACE_HEADERS))
    names = [name for name in frame.columns if not name.startswith("_")]
    kept = frame.withColumns(added).select(*names, *added) if added else frame.select(*names)
    encoded = encode(kept, sink.format, columns=names)
    return encoded.withColumnsRenamed({name: name.removeprefix("__") for name in added})


def _own_columns(frame: DataFrame) -> DataFrame:
    """Returns the frame without `_key`, `_timestamp` and the other columns of the record."""
    return frame.select(*(name for name in frame.columns if not name.startswith("_")))


def _applied(
    node: TopologyNode, key: str, function: Callable[[DataFrame], DataFrame]
) -> ApplyFrame:
    """Returns a node that applies a function and raises its errors with the key."""

    def apply(frame: DataFrame) -> DataFrame:
        with _errors_name(key):
            return function(frame)

    return ApplyFrame(node, apply, reserved=False)


@contextmanager
def _errors_name(key: str) -> Iterator[None]:
    """Raises errors of Spark and of this package as PipelineError with the key."""
    try:
        yield
    except PipelineError:
        raise
    except PySparkException as error:
        raise PipelineError(key, short_reason(error)) from error
    except BarnabasError as error:
        raise PipelineError(key, str(error)) from error
