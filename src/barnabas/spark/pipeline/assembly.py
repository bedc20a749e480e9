"""A definition becomes a streaming query that is ready to start: reader, steps, writer.

Spark finds mistakes in expressions while the query is built; they are told with the key of the
step, so that the runner can say in which line it is.
"""

from typing import TYPE_CHECKING, Any

from pyspark.errors import PySparkException
from pyspark.sql import functions as sf

from barnabas.model.errors import BarnabasError
from barnabas.spark import FORMAT, encode
from barnabas.spark.pipeline.definition import (
    AVAILABLE_NOW,
    RAW,
    FormatSink,
    Pipeline,
    Source,
    TableSink,
    TopicSink,
)
from barnabas.spark.pipeline.errors import PipelineError
from barnabas.spark.pipeline.steps import (
    INPUT_VIEW,
    AddColumns,
    Apply,
    Drop,
    Select,
    Sql,
    Step,
    Watermark,
    Where,
)
from barnabas.spark.sink.database import DatabaseSink, query_id
from barnabas.spark.spark_errors import short_reason

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.readwriter import DataStreamWriter

META_COLUMNS = ("key", "topic", "partition", "offset", "timestamp")
"""Of a decoded source; they go by `_key` and so on, beside the fields of the value."""


def assemble(spark: "SparkSession", pipeline: Pipeline) -> "DataStreamWriter":
    """The query, not started; PipelineError says which part Spark cannot make sense of."""
    frame = _told_as("source", lambda: _read(spark, pipeline))
    for number, step in enumerate(pipeline.steps):
        key = f"steps[{number}]"
        frame = _told_as(key, lambda step=step, frame=frame: apply_step(frame, step))
    writer = _told_as("sink", lambda: _write(frame, pipeline))
    writer = writer.queryName(pipeline.name).option("checkpointLocation", pipeline.checkpoint)
    ready: DataStreamWriter = _told_as("trigger", lambda: _triggered(writer, pipeline.trigger))
    return ready


def apply_step(frame: "DataFrame", step: Step) -> "DataFrame":
    """The rows after one step."""
    match step:
        case Where(condition):
            return frame.where(condition)
        case Select(columns):
            return frame.selectExpr(*columns)
        case AddColumns(columns):
            return frame.withColumns({name: sf.expr(text) for name, text in columns.items()})
        case Drop(columns):
            return frame.drop(*columns)
        case Watermark(column, delay):
            return frame.withWatermark(column, delay)
        case Sql(query):
            frame.createOrReplaceTempView(INPUT_VIEW)
            return frame.sparkSession.sql(query)
        case Apply(function):
            result: DataFrame = function(frame)
            return result


def _read(spark: "SparkSession", pipeline: Pipeline) -> "DataFrame":
    source = pipeline.source
    options = {**_source_options(source), **pipeline.cluster.options(), **source.options}
    if pipeline.dead_letters is not None:
        options["on.decode.error"] = "dlq"
        if pipeline.dead_letters.topic is not None:
            options["dlq.topic"] = pipeline.dead_letters.topic
    frame = spark.readStream.format(FORMAT).options(**options).load()
    return frame if source.format == RAW else _flat(frame)


def _source_options(source: Source) -> dict[str, str]:
    options = {"startingOffsets": source.starting}
    if source.pattern is not None:
        options["subscribePattern"] = source.pattern
    else:
        options["subscribe"] = ",".join(source.topics)
    if source.format != RAW:
        options["value.format"] = source.format
    if source.schema is not None:
        options["value.schema"] = source.schema
    return options


def _flat(frame: "DataFrame") -> "DataFrame":
    """The value's fields as columns of their own; a value without fields stays one."""
    fields = getattr(frame.schema["value"].dataType, "names", None)
    value = "value" if fields is None else "value.*"
    metas = [
        (sf.col(name).cast("string") if name == "key" else sf.col(name)).alias(f"_{name}")
        for name in META_COLUMNS
    ]
    return frame.select(value, *metas)


# -- sinks -------------------------------------------------------------------------------------


def _write(frame: "DataFrame", pipeline: Pipeline) -> "DataStreamWriter":
    sink = pipeline.sink
    match sink:
        case TopicSink():
            records = _records(frame, sink)
            options = {**pipeline.cluster.options(), "topic": sink.topic, **sink.options}
            if sink.mode == "update":
                return records.writeStream.outputMode(sink.mode).foreachBatch(
                    _batch_writer(options, sink)
                )
            writer = records.writeStream.format(FORMAT).options(**options)
            return writer.option("deliveryGuarantee", sink.guarantee).outputMode(sink.mode)
        case TableSink():
            table = DatabaseSink.at(sink.database, sink.table, keys=sink.keys)
            return _own_columns(frame).writeStream.outputMode(sink.mode).foreachBatch(table)
        case FormatSink():
            writer = _own_columns(frame).writeStream.format(sink.format).options(**sink.options)
            return writer.outputMode(sink.mode)


def _records(frame: "DataFrame", sink: TopicSink) -> "DataFrame":
    if sink.format == RAW:
        return frame
    keyed = frame
    if sink.key is not None:
        keyed = frame.withColumn("__key", sf.expr(sink.key).cast("string"))
    names = [name for name in frame.columns if not name.startswith("_")]
    kept = keyed.select(*names, *(["__key"] if sink.key is not None else []))
    return encode(kept, sink.format, columns=names).withColumnRenamed("__key", "key")


def _own_columns(frame: "DataFrame") -> "DataFrame":
    """Without `_key`, `_timestamp` and the other columns that describe the source's record."""
    return frame.select(*(name for name in frame.columns if not name.startswith("_")))


def _batch_writer(options: dict[str, str], sink: TopicSink) -> Any:
    """Spark gives Python sinks no update mode; a batch write that has a name is as exact."""
    once = sink.guarantee == "exactly-once"

    def write(frame: "DataFrame", batch_id: int) -> None:
        named = {"queryId": query_id(frame), "batchId": str(batch_id)} if once else {}
        frame.write.format(FORMAT).mode("append").options(**options, **named).save()

    return write


def _triggered(writer: "DataStreamWriter", trigger: str | None) -> "DataStreamWriter":
    if trigger is None:
        return writer
    if trigger == AVAILABLE_NOW:
        return writer.trigger(availableNow=True)
    return writer.trigger(processingTime=trigger)


def _told_as(key: str, make: Any) -> Any:
    try:
        return make()
    except PySparkException as error:
        raise PipelineError(key, short_reason(error)) from error
    except BarnabasError as error:
        raise PipelineError(key, str(error)) from error
