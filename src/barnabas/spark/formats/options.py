"""The options of formats: what keys and values are, and what becomes of those that are not.

| option | meaning |
|---|---|
| `value.format`, `key.format` | raw (default), string, json, csv, avro, confluent-avro |
| `value.schema`, `key.schema` | DDL, Spark's JSON, JSON Schema, an Avro schema; `infer` for JSON |
| `value.schema.sample` | how many records `infer` looks at (1000) |
| `on.decode.error` | `fail` (default), `null`, or `dlq`: to a dead-letter topic |
| `dlq.topic` | the dead-letter topic; by default `<topic>.dlq` of the record's own topic |
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from barnabas.model.errors import ConfigError
from barnabas.spark.option_values import OptionTexts

if TYPE_CHECKING:
    from pyspark.sql.types import DataType

    from barnabas.spark.formats.decoding import Decoder

FORMAT_OPTIONS = (
    "value.format",
    "value.schema",
    "value.schema.sample",
    "key.format",
    "key.schema",
    "key.schema.sample",
    "on.decode.error",
    "dlq.topic",
)
RAW, STRING, JSON = "raw", "string", "json"
FORMATS = (RAW, STRING, JSON, "csv", "avro", "confluent-avro")
FAIL, NULL, DLQ = "fail", "null", "dlq"
ON_ERROR = (FAIL, NULL, DLQ)
INFER = "infer"
SAMPLE = 1000


@dataclass(frozen=True, slots=True)
class ColumnFormat:
    """What one of the two columns holds."""

    format: str = RAW
    schema: str | None = None
    sample: int = SAMPLE

    @property
    def inferred(self) -> bool:
        """Whether the type is found by looking at records."""
        return self.format == JSON and (self.schema or INFER).strip().lower() == INFER

    def column_type(self) -> "DataType":
        """The type of the decoded column; not for one that is inferred."""
        from pyspark.sql.types import BinaryType, StringType

        from barnabas.spark.formats.schemas import parse_schema

        if self.format in (RAW, STRING):
            return BinaryType() if self.format == RAW else StringType()
        assert self.schema is not None
        return parse_schema(self.format, self.schema)

    def decoder(self, kind: "DataType") -> "Decoder":
        """The decoder to the type that the query has been given."""
        from barnabas.spark.formats.decoding import decoder_for

        return decoder_for(self.format, kind, self.schema)


@dataclass(frozen=True, slots=True)
class FormatOptions:
    """Both columns, and what becomes of what does not decode."""

    key: ColumnFormat = ColumnFormat()
    value: ColumnFormat = ColumnFormat()
    on_error: str = FAIL
    dead_letter_topic: str | None = None

    @classmethod
    def parse(cls, texts: OptionTexts) -> "FormatOptions":
        """From a query's options; ConfigError names what is wrong."""
        on_error = texts.word("on.decode.error", FAIL, ON_ERROR)
        topic = texts.text("dlq.topic")
        if topic is not None and (on_error != DLQ or not topic.strip()):
            raise ConfigError(f"dlq.topic={topic!r}: needs on.decode.error=dlq and a name")
        return cls(_column(texts, "key"), _column(texts, "value"), on_error, topic)

    @property
    def decodes(self) -> bool:
        """Whether anything has to be decoded at all."""
        return self.key.format != RAW or self.value.format != RAW


def _column(texts: OptionTexts, column: str) -> ColumnFormat:
    name = f"{column}.format"
    found = ColumnFormat(
        texts.word(name, RAW, FORMATS),
        texts.text(f"{column}.schema"),
        texts.number(f"{column}.schema.sample", SAMPLE, 1),
    )
    if found.format in (RAW, STRING):
        if found.schema is not None:
            raise ConfigError(f"{column}.schema: {name}={found.format} has no schema")
        return found
    if found.schema is None and found.format != JSON:
        raise ConfigError(f"{name}={found.format} needs {column}.schema")
    if not found.inferred:
        check_schema_text(f"{column}.schema", found)
    return found


def check_schema_text(name: str, column: ColumnFormat) -> None:
    """ConfigError names the option whose schema cannot be used."""
    try:
        column.decoder(column.column_type())
    except (ValueError, KeyError, TypeError) as error:
        raise ConfigError(f"{name}={column.schema!r}: {error}") from None
