"""What joins share, the columns chosen of both sides; and the join of two streams, Spark's own."""

from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as sf
from pyspark.sql.types import StructType

from barnabas.streams.engine.grouping import interval
from barnabas.streams.engine.rows import META
from barnabas.streams.nodes import Join, StreamJoin


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
    one, other = node.aliases
    times = [sf.col(f"`{alias}`._timestamp") for alias in node.aliases]
    on = sf.expr(node.on or f"`{one}`._key = `{other}`._key")
    near = (times[1] >= times[0] - sf.expr(f"interval {interval(node.before_ms)}")) & (
        times[1] <= times[0] + sf.expr(f"interval {interval(node.after_ms)}")
    )
    kind = "outer" if node.kind == "full" else node.kind
    lefts, rights = (_timed(frame, node.grace_ms) for frame in (left, right))
    both = lefts.alias(one).join(rights.alias(other), on & near, kind)
    # Sides become structs only now: an equality of fields of structs is lost in Spark's pruning
    # of nested columns, and without one it does not join streams.
    sided = both.select(_joined_side(left, one), _joined_side(right, other))
    keys = [sf.col(f"`{alias}`._key") for alias in node.aliases]
    return sided.select(
        sf.coalesce(*keys).alias("_key"),
        sf.greatest(*times).alias("_timestamp"),
        sf.lit(False).alias("_tombstone"),
        sf.lit(None).cast("int").alias("_partition"),
        sf.lit(None).cast("bigint").alias("_offset"),
        *chosen(sided, node),
    )


def _timed(frame: DataFrame, grace_ms: int) -> DataFrame:
    rows = frame.where("not _tombstone")
    return rows.withWatermark("_timestamp", interval(grace_ms)) if frame.isStreaming else rows


def _joined_side(frame: DataFrame, alias: str) -> Any:
    """A side's row as one column, null where the side has no row."""
    columns = [sf.col(f"`{alias}`.`{name}`").alias(name) for name in frame.columns]
    there = sf.col(f"`{alias}`._timestamp").isNotNull()
    return sf.when(there, sf.struct(*columns)).alias(alias)
