"""The format options of keys and values.

| option | meaning |
|---|---|
| `value.format`, `key.format` | raw (default), string, json, csv, avro, confluent-avro |
| `value.schema`, `key.schema` | DDL, Spark's JSON, JSON Schema, an Avro schema; `infer` for JSON |
| `value.schema.sample` | the number of records for `infer` (1000) |
| `on.decode.error` | `fail` (default), `null`, or `dlq`: write a dead letter |
| `dlq.topic` | the dead-letter topic; by default `<topic>.dlq` of the record's own topic |

Spark's planning processes import this module; `decoders` decodes in the tasks.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pyspark.sql.types import BinaryType, DataType, StringType

from barnabas.model.errors import ConfigError
from barnabas.spark.formats.schemas import AVRO_FORMATS, CSV, JSON, RAW, STRING, parse_schema
from barnabas.spark.options import OptionTexts

if TYPE_CHECKING:
    from barnabas.spark.formats.decoders import Decoder

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
FORMATS = (RAW, STRING, JSON, CSV, *AVRO_FORMATS)
FAIL, NULL, DLQ = "fail", "null", "dlq"
ON_ERROR = (FAIL, NULL, DLQ)
INFER = "infer"
SAMPLE = 1000


@dataclass(frozen=True, slots=True)
class ColumnFormat:
    """The format of the key or the value column."""

    format: str = RAW
    schema: str | None = None
    sample: int = SAMPLE

    @property
    def inferred(self) -> bool:
        """Whether the type is inferred from records."""
        return self.format == JSON and (self.schema or INFER).strip().lower() == INFER

    def column_type(self) -> DataType:
        """Returns the type of the decoded column; not for one that is inferred."""
        if self.format in (RAW, STRING):
            return BinaryType() if self.format == RAW else StringType()
        assert self.schema is not None
        return parse_schema(self.format, self.schema)

    def decoder(self, kind: DataType) -> "Decoder":
        """Returns the decoder to the type that the query has been given."""
        # Start-up time: Spark's planning processes need neither pyarrow nor the decoders.
        from barnabas.spark.formats.decoders import decoder_for

        return decoder_for(self.format, kind, self.schema)


@dataclass(frozen=True, slots=True)
class FormatOptions:
    """The formats of both columns, and the reaction to a value that cannot be decoded."""

    key: ColumnFormat = ColumnFormat()
    value: ColumnFormat = ColumnFormat()
    on_error: str = FAIL
    dead_letter_topic: str | None = None

    @classmethod
    def parse(cls, texts: OptionTexts) -> "FormatOptions":
        """Parses the options of a query; ConfigError names the invalid option."""
        on_error = texts.word("on.decode.error", FAIL, ON_ERROR)
        topic = texts.text("dlq.topic")
        if topic is not None and (on_error != DLQ or not topic.strip()):
            raise ConfigError(f"dlq.topic={topic!r}: needs on.decode.error=dlq and a name")
        return cls(_column(texts, "key"), _column(texts, "value"), on_error, topic)

    @property
    def decodes(self) -> bool:
        """Whether any column is decoded."""
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
    """Raises ConfigError, with the option's name, for a schema that cannot be used."""
    try:
        column.decoder(column.column_type())
    except (ValueError, KeyError, TypeError) as error:
        raise ConfigError(f"{name}={column.schema!r}: {error}") from None
