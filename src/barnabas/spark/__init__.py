"""Spark's source and sink of topics, without a jar: `format("barnabas")`.

The functions import their modules when they are called, because pyspark takes a second to import.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from barnabas.spark.options import FORMAT, ClusterSettings
from barnabas.spark.sink.database import DatabaseSink

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

    from barnabas.spark.query_lag import Lag, LagListener
    from barnabas.spark.query_metrics import MetricsServer

__all__ = [
    "FORMAT",
    "ClusterSettings",
    "DatabaseSink",
    "decode",
    "encode",
    "lag",
    "register",
    "serve_metrics",
    "session",
    "watch_lag",
]


def register(spark: "SparkSession") -> None:
    """Registers `format("barnabas")` with a session."""
    # Start-up time: PySpark takes a second to import.
    from barnabas.spark.tuning import register_source

    register_source(spark)


def session(
    master: str | None = None,
    *,
    app_name: str = "barnabas",
    config: Mapping[str, object] | None = None,
    shared_checkpoints: bool = False,
) -> "SparkSession":
    """Returns a session with the source, the sink and tuned settings; see `barnabas.spark.tuning`.

    Args:
        master: Spark's master; by default `local[*]`.
        app_name: The name of the application.
        config: Spark settings; they win over the tuned ones.
        shared_checkpoints: True leaves out the settings that are safe only while one driver on one
            machine writes a checkpoint directory.
    """
    # Start-up time: PySpark takes a second to import.
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
    # Start-up time: PySpark takes a second to import.
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
    """Returns the frame with `column` encoded for the sink.

    Args:
        frame: A frame with the values.
        format: json, csv, string, avro or raw.
        column: The column to encode.
        columns: Columns that become the fields of `column` and leave the frame.
        schema: The Avro schema; by default one of the column's type with nullable fields.
    """
    # Start-up time: PySpark takes a second to import.
    from barnabas.spark.formats.frames import encode_frame

    return encode_frame(frame, format, column=column, columns=columns, schema=schema)


def lag(progress: Any) -> "Lag | None":
    """Returns the lag of a query from its `lastProgress`; None before its first micro-batch.

    `lag(query.lastProgress).metrics()` has the names of Spark's own Kafka source.
    """
    # Start-up time: PySpark takes a second to import.
    from barnabas.spark.query_lag import lag_of

    return lag_of(progress)


def serve_metrics(spark: "SparkSession", port: int = 0, host: str = "127.0.0.1") -> "MetricsServer":
    """Serves the metrics of every query of a session for Prometheus; returns the server.

    The metrics are rows per second, batch time by phase, lag and state size, with the query's name
    as `group`; `docs/metrics.md` lists them. The endpoint has no authentication.

    Args:
        spark: The session; queries that start later are included.
        port: The port, 0 for a free port; `server.url` has the address.
        host: The address to listen on.
    """
    # Start-up time: PySpark takes a second to import.
    from barnabas.spark.query_lag import serve_session

    return serve_session(spark, port, host)


def watch_lag(spark: "SparkSession", on_lag: "Callable[[str, Lag], None]") -> "LagListener":
    """Calls `on_lag(query, lag)` after each micro-batch of every query of a session.

    Remove the listener with `spark.streams.removeListener`.
    """
    # Start-up time: PySpark takes a second to import.
    from barnabas.spark.query_lag import listen

    return listen(spark, on_lag)
