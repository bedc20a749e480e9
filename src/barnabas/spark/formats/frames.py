"""Formats on frames: `decode` after any read, `encode` before any write.

The source decodes with the option `value.format`, which is faster, because the values are not sent
from the JVM to Python again. These functions are for frames from other sources, or for values that
are decoded in two ways.
"""

import dataclasses
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as sf
from pyspark.sql.pandas.functions import arrow_udf
from pyspark.sql.types import DataType, StringType, StructField, StructType

from barnabas.model.errors import ConfigError, LocalError
from barnabas.spark.dead_letters import TIMESTAMP, sink_batch, take_letters
from barnabas.spark.formats.avro import avro_schema, avro_writer
from barnabas.spark.formats.decoding import (
    DLQ,
    FAIL,
    FORMATS,
    ON_ERROR,
    ColumnFormat,
    check_schema_text,
)
from barnabas.spark.formats.schemas import RAW, STRING, as_nullable, parse_avro
from barnabas.spark.sink.options import SinkOptions

if TYPE_CHECKING:
    from barnabas.spark.formats.decoders import Decoder

COLUMN = "column"
_ORIGIN = ("topic", "partition", "offset", "key")


def decode(
    frame: DataFrame,
    format: str,  # noqa: A002 - the word that users know
    schema: str | StructType | None = None,
    *,
    column: str = "value",
    on_error: str = "fail",
    dead_letters: Mapping[str, str] | None = None,
) -> DataFrame:
    """Returns the frame with a decoded column.

    The source does the same, faster, with its options `value.format` and `on.decode.error`.

    Args:
        frame: A frame with the bytes in `column`.
        format: raw, string, json, csv, avro or confluent-avro.
        schema: DDL, Spark's JSON, JSON Schema or a StructType; for Avro the Avro schema.
        column: The column to decode.
        on_error: What happens to a row that cannot be decoded: `fail` ends the query, `null`
            writes null, `column` writes null and the reason into a column `<column>_error`, `dlq`
            writes a dead letter, at least once.
        dead_letters: The sink's options for `dlq`; without `topic` the topic is `<topic>.dlq`.
    """
    if on_error not in (*ON_ERROR, COLUMN):
        allowed = ", ".join((*ON_ERROR, COLUMN))
        raise ConfigError(f"on_error={on_error!r}: must be one of: {allowed}")
    decoder, kind = _decoder(format, schema)
    if on_error == DLQ:
        return _set_aside(frame, decoder, kind, column, dead_letters)
    read = _decoding_function(decoder, kind, fails=on_error == FAIL)(sf.col(column))
    if on_error != COLUMN:
        return frame.withColumn(column, read["decoded"])
    whole = frame.withColumn("__decoded", read)
    return whole.withColumns(
        {column: whole["__decoded.decoded"], f"{column}_error": whole["__decoded.error"]}
    ).drop("__decoded")


def encode(
    frame: DataFrame,
    format: str = "json",  # noqa: A002 - the word that users know
    *,
    column: str = "value",
    columns: Sequence[str] | None = None,
    schema: str | None = None,
) -> DataFrame:
    """Returns the frame with `column` encoded for the sink.

    Args:
        frame: A frame with the values.
        format: json, csv, string, avro or raw.
        column: The column to encode.
        columns: Columns that become the fields of `column` and leave the frame.
        schema: The Avro schema; by default one of the column's type with nullable fields.
    """
    if columns is not None:
        others = [name for name in frame.columns if name not in columns and name != column]
        frame = frame.select(*others, sf.struct(*columns).alias(column))
    kind = frame.schema[column].dataType
    match format:
        case "raw":
            return frame
        case "string":
            return frame.withColumn(column, sf.col(column).cast("string"))
        case "json":
            return frame.withColumn(column, sf.to_json(sf.col(column)))
        case "csv":
            return frame.withColumn(column, sf.to_csv(sf.col(column)))
        case "avro":
            return frame.withColumn(column, _avro_function(kind, schema)(sf.col(column)))
    known = [name for name in FORMATS if name != "confluent-avro"]
    raise ConfigError(f"format {format!r} cannot be written; known are: {', '.join(known)}")


def _decoder(format_name: str, schema: str | StructType | None) -> tuple["Decoder", DataType]:
    if format_name not in FORMATS:
        raise ConfigError(f"format {format_name!r} is not one of: {', '.join(FORMATS)}")
    if isinstance(schema, StructType):
        kind = as_nullable(schema)
        return ColumnFormat(format_name).decoder(kind), kind
    column = ColumnFormat(format_name, schema)
    if schema is None and format_name not in (RAW, STRING):
        raise ConfigError(f"format {format_name} needs a schema")
    check_schema_text("schema", column)
    found = column.column_type()
    return column.decoder(found), found


def _decoding_function(decoder: "Decoder", kind: DataType, *, fails: bool) -> Any:
    result = StructType([StructField("decoded", kind), StructField("error", StringType())])

    def read(array: pa.Array) -> pa.Array:
        found = decoder.decode(array)
        if found.errors and fails:
            reason = found.errors[min(found.errors)]
            raise LocalError(f"{len(found.errors)} values cannot be decoded; the first: {reason}")
        reasons = pa.array([found.errors.get(row) for row in range(len(array))], pa.string())
        return pa.StructArray.from_arrays([found.values, reasons], names=["decoded", "error"])

    make: Any = arrow_udf  # PySpark's stubs do not declare this signature
    return make(read, result)


def _avro_function(kind: DataType, schema: str | None) -> Any:
    wanted = avro_schema(kind) if schema is None else parse_avro(schema)

    def write(array: pa.Array) -> pa.Array:
        encode = avro_writer(wanted)
        rows = array.to_pylist(maps_as_pydicts="strict")
        return pa.array([None if row is None else encode(row) for row in rows], pa.binary())

    make: Any = arrow_udf
    return make(write, "binary")


def _set_aside(
    frame: DataFrame,
    decoder: "Decoder",
    kind: DataType,
    column: str,
    target: Mapping[str, str] | None,
) -> DataFrame:
    if target is None:
        raise ConfigError("on_error='dlq' needs dead_letters=, the sink's options for them")
    missing = [name for name in (*_ORIGIN, column) if name not in frame.columns]
    if missing or column != "value":
        raise ConfigError(f"on_error='dlq' needs the source's columns, {missing or column} is not")
    options = dataclasses.replace(
        SinkOptions.parse(target, streaming=False), timestamp_column=TIMESTAMP
    )
    fields = [
        StructField(item.name, kind) if item.name == column else item
        for item in frame.schema.fields
    ]

    def split(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        # Start-up time: each of Spark's processes imports only what it needs.
        from barnabas.spark.sink.transactional_write import write_at_least_once

        for batch in batches:
            found = decoder.decode(batch.column(column))
            if found.errors:
                letters = sink_batch(take_letters(batch, found.errors), options.topic)
                write_at_least_once(options, iter([letters]))
            at = batch.schema.get_field_index(column)
            whole = batch.set_column(at, column, found.values)
            if found.errors:
                keep = [row not in found.errors for row in range(batch.num_rows)]
                whole = whole.filter(pa.array(keep))
            yield whole

    return frame.mapInArrow(split, StructType(fields))
