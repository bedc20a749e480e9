"""A topic and how its records become rows and rows its records. Pure."""

from dataclasses import dataclass

from barnabas.streams.schema import Schema

Expression = str


@dataclass(frozen=True, slots=True)
class Topic:
    """A topic and how its records are read and written.

    `value_format` and `key_format` are names of `barnabas.spark.formats`. `key_column` shows the
    key in the rows under a name; in a topic that is written it names the column that becomes the
    key and stays out of the value. `timestamp` is an expression over the row for its time.
    """

    name: str
    schema: Schema | None = None
    value_format: str = "json"
    key_type: str = "string"
    key_format: str = "string"
    key_column: str | None = None
    timestamp: Expression | None = None
    starting: str = "earliest"
    partitions: int | None = None
    options: tuple[tuple[str, str], ...] = ()
