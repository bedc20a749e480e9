"""Reads topics as rows, writes rows as records, and computes changes of tables."""

import dataclasses
from typing import Any

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as sf
from pyspark.sql.types import DataType, StructType

from barnabas.model.errors import ConfigError
from barnabas.spark import encode
from barnabas.spark.options import FORMAT, ClusterSettings
from barnabas.streams.nodes import RecordSource, Topic
from barnabas.streams.schema import RESERVED, Field, Schema

META = RESERVED
STRUCTURED = ("json", "csv", "avro", "confluent-avro")
_META_TYPES = "_timestamp timestamp, _tombstone boolean, _partition int, _offset bigint"


def own_columns(frame: DataFrame) -> list[str]:
    """Returns the names of a frame's columns without the reserved ones."""
    return [name for name in frame.columns if name not in META]


def schema_of_frame(frame: DataFrame) -> Schema:
    """Returns the schema of a frame without the reserved columns."""
    return Schema(
        tuple(
            Field(field.name, field.dataType.simpleString())
            for field in frame.schema.fields
            if field.name not in META
        )
    )


def key_type_of(frame: DataFrame) -> str:
    """Returns the Spark SQL type of the key."""
    return frame.schema["_key"].dataType.simpleString()


def resolved(topic: Topic, like: DataFrame) -> Topic:
    """Returns a topic with the schema and key type of a frame, if it does not declare its own
    schema.
    """
    written = [name for name in own_columns(like) if name != topic.key_column]
    kinds = {field.name: field.type for field in schema_of_frame(like).fields}
    schema = topic.schema or Schema(tuple(Field(name, kinds[name]) for name in written))
    return dataclasses.replace(topic, schema=schema, key_type=key_type_of(like))


# --- reading ---


def read_topic(
    spark: SparkSession, topic: Topic, cluster: ClusterSettings, *, streaming: bool
) -> DataFrame:
    """Returns the records of a topic as rows; all of them, unless `starting` says otherwise."""
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
    """Returns the source's options for the keys and values of a topic."""
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
    """Returns the source's columns as the columns of a row."""
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
    """Returns an empty frame with the columns of a topic."""
    fields = f"_key {topic.key_type}, {_META_TYPES}, {_value_ddl(topic)}"
    frame = spark.createDataFrame([], fields)
    if topic.key_column and topic.key_column not in frame.columns:
        frame = frame.withColumn(topic.key_column, sf.col("_key"))
    return frame


def _value_columns(topic: Topic) -> list[Column]:
    if topic.value_format in STRUCTURED:
        assert topic.schema is not None
        return [sf.col("value").getField(name).alias(name) for name in topic.schema.names]
    if topic.schema is None:
        return [sf.col("value")]
    field = _only_field(topic)
    return [sf.col("value").cast(field.type).alias(field.name)]


def _key_columns(topic: Topic, key: Column) -> list[Column]:
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
        raise ConfigError(f"topic {topic.name}: format {topic.value_format} needs one column")
    return topic.schema.fields[0]


# --- writing ---


def as_records(frame: DataFrame, topic: Topic) -> DataFrame:
    """Returns rows as the sink's columns: `key`, `value`, and `time` for the records'
    timestamps."""
    columns = [name for name in own_columns(frame) if name != topic.key_column]
    if topic.schema is not None:
        columns = [name for name in topic.schema.names if name in columns]
    if not columns:
        raise ConfigError(f"topic {topic.name}: the rows have no column for the value")
    key = topic.key_column or "_key"
    shaped = frame.select(
        key_text(sf.col(f"`{key}`"), frame.schema[key].dataType).alias("key"),
        sf.when(~sf.col("_tombstone"), _value(frame, columns, topic)).alias("value"),
        sf.col("_timestamp").alias("time"),
    )
    if topic.value_format in STRUCTURED:
        # For Avro a topic can declare a schema; by default it is derived from the columns.
        schema = dict(topic.options).get("value.schema")
        return encode(shaped, topic.value_format.removeprefix("confluent-"), schema=schema)
    return shaped


def write_options(cluster: ClusterSettings, topic: str) -> dict[str, str]:
    """Returns the sink's options for a topic."""
    return {**cluster.sink_options(), "topic": topic, "timestampColumn": "time"}


def key_text(key: Column, kind: DataType) -> Column:
    """Returns a key as the bytes or text of its record."""
    if isinstance(kind, StructType):
        return sf.to_json(key)
    return key if kind.simpleString() in ("binary", "string") else key.cast("string")


def _value(frame: DataFrame, columns: list[str], topic: Topic) -> Column:
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


# --- changes of tables ---


def columns_of(frame: DataFrame) -> list[Column]:
    """Returns all columns of a frame, with quoted names."""
    return [sf.col(f"`{name}`") for name in frame.columns]


def last_changes(rows: DataFrame) -> DataFrame:
    """Returns the last row of each key, by offset; rows without a key are not part of a table."""
    whole = rows.where(sf.col("_key").isNotNull()).select(
        "_key",
        sf.struct("_offset", "_partition").alias("_at"),
        sf.struct(*columns_of(rows)).alias("_row"),
    )
    return whole.groupBy("_key").agg(sf.max_by("_row", "_at").alias("_row")).select("_row.*")


def difference(before: DataFrame, after: DataFrame) -> DataFrame:
    """Returns the changes, by `_key`, that turn the table `before` into the table `after`."""
    old = before.select(sf.col("_key").alias("_old_key"), _row(before).alias("_old"))
    new = after.select(sf.col("_key").alias("_new_key"), _row(after).alias("_new"))
    both = new.join(old, sf.col("_new_key") == sf.col("_old_key"), "full")
    changed = sf.col("_new").isNull() | ~_same(after)
    changes = both.where(changed).select(
        sf.coalesce("_new", "_old").alias("_row"), sf.col("_new").isNull().alias("_gone")
    )
    return changes.select(
        "_row._key",
        "_row._timestamp",
        sf.col("_gone").alias("_tombstone"),
        "_row._partition",
        "_row._offset",
        *(sf.col(f"_row.`{name}`").alias(name) for name in own_columns(after)),
    )


def _row(frame: DataFrame) -> Column:
    return sf.struct(*columns_of(frame))


def _same(frame: DataFrame) -> Column:
    sides = [
        sf.struct(*(sf.col(f"{side}.`{name}`").alias(name) for name in own_columns(frame)))
        for side in ("_new", "_old")
    ]
    if "map<" in frame.schema.simpleString():  # Spark cannot compare maps
        sides = [sf.to_json(side) for side in sides]
    return sf.col("_old").isNotNull() & sides[0].eqNullSafe(sides[1])
