"""Topics to rows and rows to topics: the frame every node sees, and the records it becomes."""

import dataclasses
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sf
from pyspark.sql.types import DataType, StructType

from barnabas.model.errors import ConfigError
from barnabas.spark import FORMAT, encode
from barnabas.spark.client_settings import ClusterSettings
from barnabas.streams.nodes import RecordSource, Topic
from barnabas.streams.schema import RESERVED, Field, Schema

META = RESERVED
STRUCTURED = ("json", "csv", "avro", "confluent-avro")
_META_TYPES = "_timestamp timestamp, _tombstone boolean, _partition int, _offset bigint"


def own_columns(frame: DataFrame) -> list[str]:
    """A row's own columns, without those every row has."""
    return [name for name in frame.columns if name not in META]


def schema_of_frame(frame: DataFrame) -> Schema:
    return Schema(
        tuple(
            Field(field.name, field.dataType.simpleString())
            for field in frame.schema.fields
            if field.name not in META
        )
    )


def key_type_of(frame: DataFrame) -> str:
    return frame.schema["_key"].dataType.simpleString()


def resolved(topic: Topic, like: DataFrame) -> Topic:
    """A topic of rows as a frame has them: what it does not say itself is the frame's."""
    written = [name for name in own_columns(like) if name != topic.key_column]
    kinds = {field.name: field.type for field in schema_of_frame(like).fields}
    schema = topic.schema or Schema(tuple(Field(name, kinds[name]) for name in written))
    return dataclasses.replace(topic, schema=schema, key_type=key_type_of(like))


# --- reading ---


def read_topic(
    spark: SparkSession, topic: Topic, cluster: ClusterSettings, *, streaming: bool
) -> DataFrame:
    """The records of a topic as rows; of all of it, unless `starting` says otherwise."""
    reader: Any = spark.readStream if streaming else spark.read
    options = {
        **cluster.source_options(),
        **format_options(topic),
        **dict(topic.options),
        "subscribe": topic.name,
    }
    if streaming or topic.starting != "latest":
        options["startingOffsets"] = topic.starting
    loaded: DataFrame = reader.format(FORMAT).options(**options).load()
    return as_rows(loaded, topic)


def read_records(spark: SparkSession, node: RecordSource, cluster: ClusterSettings) -> DataFrame:
    """Returns the records of a source as a streaming frame with the columns of Spark's source."""
    if node.pattern is not None:
        subscription = {"subscribePattern": node.pattern}
    else:
        subscription = {"subscribe": ",".join(node.topics)}
    options = {**cluster.options(), **subscription, **dict(node.options)}
    return spark.readStream.format(FORMAT).options(**options).load()


def format_options(topic: Topic) -> dict[str, str]:
    """The source's options for a topic's keys and values."""
    options = {"value.format": topic.value_format}
    if topic.value_format in STRUCTURED:
        if topic.schema is None:
            raise ConfigError(f"topic {topic.name}: format {topic.value_format} needs a schema")
        options["value.schema"] = topic.schema.ddl
    match topic.key_type:
        case "binary":
            options["key.format"] = "raw"
        case kind if kind.startswith("struct"):
            fields = kind.removeprefix("struct<").removesuffix(">")
            options |= {"key.format": "json", "key.schema": fields}
        case _:
            options["key.format"] = "string"
    return options


def as_rows(loaded: DataFrame, topic: Topic) -> DataFrame:
    """The source's columns as a row's."""
    key = sf.col("key").cast(topic.key_type)
    frame = loaded.select(
        key.alias("_key"),
        sf.col("timestamp").alias("_timestamp"),
        sf.col("value").isNull().alias("_tombstone"),
        sf.col("partition").alias("_partition"),
        sf.col("offset").alias("_offset"),
        *_value_columns(topic),
        *_key_columns(topic, key),
    )
    if topic.timestamp is None:
        return frame
    time = sf.coalesce(sf.expr(topic.timestamp).cast("timestamp"), sf.col("_timestamp"))
    return frame.withColumn("_timestamp", time)


def empty_rows(spark: SparkSession, topic: Topic) -> DataFrame:
    """No rows, with a topic's columns."""
    fields = f"_key {topic.key_type}, {_META_TYPES}, {_value_ddl(topic)}"
    frame = spark.createDataFrame([], fields)
    if topic.key_column and topic.key_column not in frame.columns:
        frame = frame.withColumn(topic.key_column, sf.col("_key"))
    return frame


def _value_columns(topic: Topic) -> list[Any]:
    if topic.value_format in STRUCTURED:
        assert topic.schema is not None
        return [sf.col("value").getField(name).alias(name) for name in topic.schema.names]
    if topic.schema is None:
        return [sf.col("value")]
    field = _only_field(topic)
    return [sf.col("value").cast(field.type).alias(field.name)]


def _key_columns(topic: Topic, key: Any) -> list[Any]:
    names = topic.schema.names if topic.schema else ("value",)
    if topic.key_column is None or topic.key_column in names:
        return []
    return [key.alias(topic.key_column)]


def _value_ddl(topic: Topic) -> str:
    if topic.schema is not None:
        return topic.schema.ddl
    return f"value {'binary' if topic.value_format == 'raw' else 'string'}"


def _only_field(topic: Topic) -> Field:
    if topic.schema is None or len(topic.schema.fields) != 1:
        raise ConfigError(f"topic {topic.name}: format {topic.value_format} has one column")
    return topic.schema.fields[0]


# --- writing ---


def as_records(frame: DataFrame, topic: Topic) -> DataFrame:
    """Rows as the sink's columns: `key`, `value`, and `time` for the records' timestamps."""
    columns = [name for name in own_columns(frame) if name != topic.key_column]
    if topic.schema is not None:
        columns = [name for name in topic.schema.names if name in columns]
    if not columns:
        raise ConfigError(f"topic {topic.name}: no column is left for the value")
    key = topic.key_column or "_key"
    shaped = frame.select(
        key_text(sf.col(f"`{key}`"), frame.schema[key].dataType).alias("key"),
        sf.when(~sf.col("_tombstone"), _value(frame, columns, topic)).alias("value"),
        sf.col("_timestamp").alias("time"),
    )
    if topic.value_format in STRUCTURED:
        # For Avro a topic may have a schema of its own; else one is made of the columns.
        schema = dict(topic.options).get("value.schema")
        return encode(shaped, topic.value_format.removeprefix("confluent-"), schema=schema)
    return shaped


def write_options(cluster: ClusterSettings, topic: str) -> dict[str, str]:
    return {**cluster.sink_options(), "topic": topic, "timestampColumn": "time"}


def key_text(key: Any, kind: DataType) -> Any:
    """A key as its record's bytes or text."""
    if isinstance(kind, StructType):
        return sf.to_json(key)
    return key if kind.simpleString() in ("binary", "string") else key.cast("string")


def _value(frame: DataFrame, columns: list[str], topic: Topic) -> Any:
    if topic.value_format in STRUCTURED:
        return sf.struct(*(sf.col(f"`{name}`") for name in columns))
    if len(columns) != 1:
        raise ConfigError(
            f"topic {topic.name}: format {topic.value_format} takes one column, not "
            f"{', '.join(columns)}"
        )
    column = sf.col(f"`{columns[0]}`")
    binary = frame.schema[columns[0]].dataType.simpleString() == "binary"
    return column if binary else column.cast("string")
