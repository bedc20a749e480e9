"""The schema of the source: names, types and order of the columns of Spark's own Kafka source.

Spark's planning processes import this module; `columns` builds the columns in the tasks.
"""

from collections.abc import Container, Mapping

from pyspark.sql.types import (
    ArrayType,
    BinaryType,
    DataType,
    IntegerType,
    LongType,
    StringType,
    StructField,
    StructType,
    TimestampType,
)

from barnabas.model.errors import ConfigError
from barnabas.spark.formats.schemas import RAW
from barnabas.spark.source.options import SourceOptions

_HEADER = StructType([StructField("key", StringType()), StructField("value", BinaryType())])
_COLUMNS: dict[str, DataType] = {
    "key": BinaryType(),
    "value": BinaryType(),
    "topic": StringType(),
    "partition": IntegerType(),
    "offset": LongType(),
    "timestamp": TimestampType(),
    "timestampType": IntegerType(),
    "headers": ArrayType(_HEADER),
}


def source_schema(
    include_headers: bool, decoded: Mapping[str, DataType] | None = None
) -> StructType:
    """Returns the default schema of a query; `decoded` has the types of decoded columns."""
    kinds = {**_COLUMNS, **(decoded or {})}
    names = [name for name in _COLUMNS if name != "headers" or include_headers]
    return StructType([StructField(name, kinds[name]) for name in names])


def check_schema(schema: StructType, decoded: Container[str] = ()) -> None:
    """Raises ConfigError for an unknown column or a wrong type.

    The columns in `decoded` may have any type.
    """
    for field in schema.fields:
        kind = _COLUMNS.get(field.name)
        if kind is None:
            raise ConfigError(f"column {field.name!r} is not one of: {', '.join(_COLUMNS)}")
        if field.name in decoded:
            continue
        if field.dataType.simpleString() != kind.simpleString():
            given, wanted = field.dataType.simpleString(), kind.simpleString()
            raise ConfigError(f"column {field.name!r} is {wanted}, not {given}")


def decoded_types(options: SourceOptions) -> Mapping[str, DataType]:
    """Returns the types of the key and value columns that are not bytes."""
    found: dict[str, DataType] = {}
    for name, column in (("key", options.formats.key), ("value", options.formats.value)):
        if column.inferred:
            # Start-up time: only inference needs the admin client and pyarrow in this process.
            from barnabas.spark.source.inference import inferred_column

            found[name] = inferred_column(name, column, options)
        elif column.format != RAW:
            found[name] = column.column_type()
    return found
