"""Formats of keys and values: bytes to typed columns and back.

`raw` and `string` need no schema; `json`, `csv` and `avro` (plain, or after the five bytes that
Confluent's serializers write) do. Decoding is from Arrow to Arrow, in the source's tasks with the
options `value.format` and `key.format`, or on any frame with `decode`. A value that cannot be
decoded fails the query, becomes null, or becomes a dead letter.

The functions for SQL are imported on first use, because PySpark takes a second to import.
"""

from typing import TYPE_CHECKING

from barnabas.model.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from barnabas.spark.formats.avro import avro_schema, avro_writer, record_fields
    from barnabas.spark.formats.schemas import parse_ddl

_MODULE_OF = {
    "avro_schema": "barnabas.spark.formats.avro",
    "avro_writer": "barnabas.spark.formats.avro",
    "parse_ddl": "barnabas.spark.formats.schemas",
    "record_fields": "barnabas.spark.formats.avro",
}

__all__ = ["avro_schema", "avro_writer", "parse_ddl", "record_fields"]

__getattr__ = lazy_exports(__name__, _MODULE_OF)
