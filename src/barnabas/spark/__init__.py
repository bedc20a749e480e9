"""Spark's source and sink of topics, without a jar: `format("barnabas")`.

The pure parts (options, offsets, ranges, admission, planner) know nothing of Spark; the rest of
this package is the only importer of pyspark. Nothing of it is imported until it is asked for.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from barnabas.spark.sink.database import DatabaseSink

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

    from barnabas.spark.query_lag import Lag, LagListener

__all__ = [
    "FORMAT",
    "DatabaseSink",
    "decode",
    "encode",
    "lag",
    "register",
    "session",
    "watch_lag",
]

FORMAT = "barnabas"


def register(spark: "SparkSession") -> None:
    """Make `format("barnabas")` known to a session; sessions made later know it by themselves."""
    from barnabas.spark.registration import register_source

    register_source(spark)


def session(
    master: str | None = None,
    *,
    app_name: str = "barnabas",
    config: Mapping[str, object] | None = None,
    shared_checkpoints: bool = False,
) -> "SparkSession":
    """A session with the source, the sink and tuned settings; see `barnabas.spark.tuning`."""
    from barnabas.spark.tuning import make_session

    return make_session(
        master, app_name=app_name, config=config, shared_checkpoints=shared_checkpoints
    )


def decode(
    frame: "DataFrame",
    format: str,  # noqa: A002 - the word that users know
    schema: "str | StructType | None" = None,
    *,
    column: str = "value",
    on_error: str = "fail",
    dead_letters: Mapping[str, str] | None = None,
) -> "DataFrame":
    """The frame with `column` decoded: raw, string, json, csv, avro or confluent-avro.

    `schema` is DDL, Spark's JSON, JSON Schema or a StructType; for Avro the Avro schema. A row
    that does not decode fails the query, or `on_error` says what becomes of it: `null`, `column`
    (null, with the reason in a column `<column>_error`) or `dlq`, at least once to the sink that
    `dead_letters` has the options of (without `topic`: to `<topic>.dlq`). The source does the
    same, faster, by its options `value.format` and `on.decode.error`.
    """
    from barnabas.spark.formats.frames import decode_frame

    return decode_frame(
        frame, format, schema, column=column, on_error=on_error, dead_letters=dead_letters
    )


def encode(
    frame: "DataFrame",
    format: str = "json",  # noqa: A002 - the word that users know
    *,
    column: str = "value",
    columns: Sequence[str] | None = None,
    schema: str | None = None,
) -> "DataFrame":
    """The frame with `column` as the sink takes it: json, csv, string, avro or raw.

    With `columns`, these are put into one first and leave the frame. `schema` is for Avro; without
    it one is made of the column's type, in which every field may be null.
    """
    from barnabas.spark.formats.frames import encode_frame

    return encode_frame(frame, format, column=column, columns=columns, schema=schema)


def lag(progress: Any) -> "Lag | None":
    """How far behind its topics a query is, from its `lastProgress`; None before its first batch.

    `lag(query.lastProgress).metrics()` has the names of Spark's own Kafka source.
    """
    from barnabas.spark.query_lag import lag_of

    return lag_of(progress)


def watch_lag(spark: "SparkSession", on_lag: "Callable[[str, Lag], None]") -> "LagListener":
    """Call `on_lag(query, lag)` after each batch of every query of a session.

    `spark.streams.removeListener` ends it.
    """
    from barnabas.spark.query_lag import listen

    return listen(spark, on_lag)
