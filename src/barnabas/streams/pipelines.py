"""Compiles a pipeline (`barnabas.spark.pipeline`) to a topology, runs it and records its status.

The topology has a source of records, an `ApplyFrame` node for each step and one sink, so it is a
single query. Spark finds mistakes in expressions while the query is built. They are raised as
PipelineError with the key of the step, so that the runner can name the line of the file.

Checkpoints have the layout that pipelines have always had: the directory that the definition names
is the query's own, and the query has the pipeline's name. Records are written without the
timestamps of the source.

A stop waits for the current micro-batch, at most for the grace period, and then ends the query. A
micro-batch that was interrupted is processed again at the next start, from the checkpoint, and
written once.
"""

import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, Any

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sf
from pyspark.sql.streaming.query import StreamingQuery

import barnabas.spark
from barnabas.admin import Admin
from barnabas.model.errors import BarnabasError, LocalError
from barnabas.spark import DatabaseSink, encode
from barnabas.spark import pipeline as definition
from barnabas.spark.options import admin_settings
from barnabas.spark.pipeline import AVAILABLE_NOW, INPUT_VIEW, RAW, PipelineError
from barnabas.spark.pipeline_files import PipelineFile
from barnabas.spark.pipeline_registry import FAILED, FINISHED, RUNNING, STOPPED, PipelineRegistry
from barnabas.spark.query_metrics import QueryFigures, QueryMetrics, last_batch
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
from barnabas.streams.run import POLL_SECONDS, Running, short_reason, stderr_into
from barnabas.streams.stages import Trigger
from barnabas.streams.topics import create_written_topics
from barnabas.streams.topology import Topology

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


RECORD_COLUMNS = ("key", "topic", "partition", "offset", "timestamp")
"""Columns of a decoded record other than its value; rows of a pipeline have them as `_key` etc."""
TRACE_HEADERS = ("traceparent", "tracestate")
GRACE_SECONDS = 30.0


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
    # Spark checks the plan with the output mode, then it writes to the checkpoint.
    with _errors_name("sink"), _java_errors_name("checkpoint"):
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


@contextmanager
def _java_errors_name(key: str) -> Iterator[None]:
    """Raises errors of Java, such as those of the file system, as PipelineError with the key."""
    try:
        yield
    except Py4JJavaError as error:
        raise PipelineError(key, short_reason(error)) from error


@dataclass(slots=True)
class PipelineRunner:
    """One run of one pipeline.

    Args:
        file: The pipeline and the file that defines it.
        registry: Receives the status of the run.
        on_progress: Called after each micro-batch.
        on_start: Called with a message when the query has started.
        grace_s: How long a stop waits for the current micro-batch.
        stop: May be set by any thread or signal handler to end the run.
        metrics: Receives the progress of each micro-batch.
        on_stop: Called with a message when a stop waits for the current micro-batch.
    """

    file: PipelineFile
    registry: PipelineRegistry
    on_progress: Callable[[QueryFigures], None]
    on_start: Callable[[str], None] = lambda _text: None
    grace_s: float = GRACE_SECONDS
    stop: threading.Event = field(default_factory=threading.Event)
    metrics: QueryMetrics | None = None
    on_stop: Callable[[str], None] = lambda _text: None
    _last: QueryFigures | None = None
    _last_batch: int | None = None
    _started: str = ""

    def run(self, spark: "SparkSession | None" = None) -> str:
        """Runs the pipeline and returns its final state.

        Raises:
            ConfigError: The definition is invalid; names the file and the line.
            LocalError: The pipeline is running already, or its query has failed.
        """
        pipeline = self.file.pipeline
        with (
            self.registry.running(pipeline.name),
            self.registry.owning(pipeline.checkpoint, pipeline.name),
        ):
            self._started = _now()
            self._write_status(RUNNING)
            try:
                return self._run(spark)
            except BaseException as error:
                self._write_status(FAILED, error=str(error))
                if self.metrics is not None:
                    self.metrics.ended(pipeline.name, failed=True)
                raise

    def _run(self, spark: "SparkSession | None") -> str:
        own = None if spark is not None else self._session()
        try:
            started = self._start(spark or own)
            if started is not None:
                return self._follow(started)
            self._write_status(STOPPED)
            return STOPPED
        finally:
            if own is not None:
                own.stop()

    def _session(self) -> "SparkSession":
        pipeline = self.file.pipeline
        # For a mistake in an expression PySpark would log a page of JSON.
        logging.getLogger("SQLQueryContextLogger").setLevel(logging.CRITICAL)
        settings = {"spark.log.level": "ERROR", "spark.ui.enabled": "false", **pipeline.spark}
        with stderr_into(self.registry.log_file(pipeline.name)):
            return barnabas.spark.session(pipeline.master, app_name=pipeline.name, config=settings)

    def _start(self, spark: Any) -> Running | None:
        """Starts the query; returns None if a stop was requested before."""
        pipeline = self.file.pipeline
        try:
            if self.stop.is_set():
                return None
            query = pipeline_query(pipeline, spark)
            if self.stop.is_set():
                return None
            started = start_query(query, pipeline.trigger)
        except PipelineError as error:
            raise error.at(self.file.locate(error.key)) from error
        self.on_start(f"{pipeline.name} runs, query {started.id}")
        return Running(pipeline.name, [query], [started])

    def _follow(self, running: Running) -> str:
        while running.active and not self.stop.wait(POLL_SECONDS):
            self._report(running)
        state = FINISHED if not self.stop.is_set() else STOPPED
        if running.active:
            name = self.file.pipeline.name
            self.on_stop(f"{name}: stopping after the current micro-batch")
            running.let_batches_end(self.grace_s)
        running.stop()
        self._report(running)
        error = running.queries[0].exception()
        if error is not None and state == FINISHED:
            log = self.registry.log_file(self.file.pipeline.name)
            text = f"{self.file.path}: the query has failed: {short_reason(error)}"
            raise LocalError(f"{text} (Spark's log: {log})")
        self._write_status(state)
        return state

    def _report(self, running: Running) -> None:
        figures = self._last
        for progress in running.progress_after(self._last_batch):
            figures = QueryFigures.of(progress, figures)
            self._last_batch = last_batch(progress)
            if self.metrics is not None:
                self.metrics.record(self.file.pipeline.name, progress)
        if figures is not None and figures != self._last:
            self._last = figures
            self.on_progress(figures)
            self._write_status(RUNNING)

    def _write_status(self, state: str, *, error: str | None = None) -> None:
        pipeline = self.file.pipeline
        figures = self._last.document() if self._last else {}
        self.registry.write(
            pipeline.name,
            {
                "name": pipeline.name,
                "state": state,
                "error": error,
                "file": str(self.file.path.resolve()),
                "checkpoint": pipeline.checkpoint,
                "started": self._started,
                "updated": _now(),
                **figures,
            },
        )


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
