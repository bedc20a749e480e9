"""Groups and windows by Spark's own aggregation: streaming with RocksDB state, or over a batch."""

from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as sf

from barnabas.model.errors import ConfigError
from barnabas.streams.nodes import Aggregate
from barnabas.streams.windows import Shape, Window

WINDOW_COLUMNS = ("window_start", "window_end")


def interval(milliseconds: int) -> str:
    return f"{milliseconds} milliseconds"


def grouped(frame: DataFrame, node: Aggregate) -> DataFrame:
    """The aggregates of each group, as rows; tombstones are in no group.

    The frame may be a streaming one; one with a window has its watermark already.
    """
    window = node.window
    if window is not None and window.shape is Shape.SLIDING:
        raise ConfigError("sliding windows are not one of Spark's own aggregations")
    keys = [sf.expr(text).alias(name) for name, text in node.keys]
    if window is not None:
        keys.append(window_column(window).alias("_window"))
    counted = frame.where(~sf.col("_tombstone")).groupBy(*keys)
    made = counted.agg(
        *(sf.expr(text).alias(name) for name, text in node.aggregates),
        sf.min("_timestamp").alias("_first"),
        sf.max("_timestamp").alias("_latest"),
    )
    if window is not None and window.shape is Shape.SESSION:
        made = made.withColumn("_window", _session_bounds(window))
    return as_result(made, node)


def _session_bounds(window: Window) -> Any:
    """By the session's own first and last row. Spark pushes filters on the grouping column below
    the aggregation, where each row is a session of its own, and so loses rows of long sessions."""
    end = sf.col("_latest") + sf.expr(f"interval {interval(window.size_ms)}")
    return sf.struct(sf.col("_first").alias("start"), end.alias("end"))


def window_column(window: Window) -> Any:
    if window.shape is Shape.SESSION:
        return sf.session_window("_timestamp", interval(window.size_ms))
    return sf.window("_timestamp", interval(window.size_ms), interval(window.advance_ms))


def as_result(made: DataFrame, node: Aggregate) -> DataFrame:
    """Group keys, `_window`, aggregates and `_latest` as a row with its key."""
    names = [name for name, _ in node.keys]
    times = []
    if node.window is not None:
        times = [
            sf.col("_window.start").alias("window_start"),
            sf.col("_window.end").alias("window_end"),
        ]
    whole = made.select(
        *(sf.col(f"`{name}`") for name in names),
        *times,
        *(sf.col(f"`{name}`") for name, _ in node.aggregates),
        sf.col("_latest").alias("_timestamp"),
    )
    key = names if node.window is None else [*names, *WINDOW_COLUMNS]
    columns = [sf.col(f"`{name}`") for name in key]
    return whole.select(
        (columns[0] if len(columns) == 1 else sf.struct(*columns)).alias("_key"),
        sf.col("_timestamp"),
        sf.lit(False).alias("_tombstone"),
        sf.lit(None).cast("int").alias("_partition"),
        sf.lit(None).cast("bigint").alias("_offset"),
        *(sf.col(f"`{name}`") for name in whole.columns if name != "_timestamp"),
    )


def with_watermark(frame: DataFrame, window: Window | None) -> DataFrame:
    """Spark's watermark is the grace: windows close that long after their end."""
    if window is None:
        return frame
    return frame.withWatermark("_timestamp", interval(window.grace_ms))
