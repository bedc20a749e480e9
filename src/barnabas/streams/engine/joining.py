"""What joins share: two sides as structs under their aliases, and the columns chosen of them; and
the join of two streams, which is Spark's own."""

from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as sf
from pyspark.sql.types import StructType

from barnabas.model.errors import ConfigError
from barnabas.streams.engine.grouping import interval
from barnabas.streams.engine.rows import META
from barnabas.streams.nodes import Join, StreamJoin


def side(frame: DataFrame, alias: str) -> Any:
    """A row as one column."""
    return sf.struct(*(sf.col(f"`{name}`") for name in frame.columns)).alias(alias)


def chosen(frame: DataFrame, node: Join) -> list[Any]:
    """The columns of the result, from a frame with both sides under their aliases."""
    if node.columns is not None:
        return [sf.expr(text).alias(name) for name, text in node.columns]
    left, right = node.aliases
    columns, taken = [], set(META)
    for alias in (left, right):
        kind = frame.schema[alias].dataType
        assert isinstance(kind, StructType)
        for name in kind.fieldNames():
            if name not in taken:
                taken.add(name)
                columns.append(sf.col(f"`{alias}`.`{name}`").alias(name))
    return columns


def joined_streams(left: DataFrame, right: DataFrame, node: StreamJoin) -> DataFrame:
    """Rows of both that are near in time; with watermarks when the frames are streaming."""
    names = node.aliases
    sides = [
        frame.select(
            sf.col("_timestamp").alias(time), sf.col("_key").alias(key), side(frame, alias)
        )
        for frame, time, key, alias in (
            (left.where("not _tombstone"), "_left_time", "_left_key", names[0]),
            (right.where("not _tombstone"), "_right_time", "_right_key", names[1]),
        )
    ]
    if left.isStreaming:
        sides[0] = sides[0].withWatermark("_left_time", interval(node.grace_ms))
        sides[1] = sides[1].withWatermark("_right_time", interval(node.grace_ms))
    condition = sf.expr(node.on or "_left_key = _right_key") & sf.expr(
        f"_right_time >= _left_time - interval {interval(node.before_ms)} and "
        f"_right_time <= _left_time + interval {interval(node.after_ms)}"
    )
    kind = "outer" if node.kind == "full" else node.kind
    both = sides[0].join(sides[1], condition, kind)
    return both.select(
        sf.coalesce("_left_key", "_right_key").alias("_key"),
        sf.greatest("_left_time", "_right_time").alias("_timestamp"),
        sf.lit(False).alias("_tombstone"),
        sf.lit(None).cast("int").alias("_partition"),
        sf.lit(None).cast("bigint").alias("_offset"),
        *chosen(both, node),
    )


def check_aliases(node: Join) -> None:
    left, right = node.aliases
    if left == right:
        raise ConfigError(f"both sides of a join are called {left!r}")
