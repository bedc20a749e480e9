"""Joins with tables, a micro-batch at a time, on the tables' kept state.

A stream with a table: while the table has no news the rows are looked up in it as it is. Where both
have news, the rows of each partition keep the order of their offsets, and these orders are merged
by time, a change of the table before a row of the stream of the same time; a row meets the last
change before it, or else the table as it was before the micro-batch.

Two tables: the keys touched by the micro-batch are joined as they were and as they are, and what
differs is told. So the last state of a micro-batch is told, not each step to it.
"""

from typing import Any

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as sf
from pyspark.sql.types import StructType

from barnabas.streams.engine.folding import columns_of, difference, last_changes
from barnabas.streams.engine.joining import chosen
from barnabas.streams.engine.rows import META
from barnabas.streams.engine.state import Step
from barnabas.streams.nodes import StreamTableJoin, TableJoin

LEFT, RIGHT = 0, 1
BROADCAST_ROWS = 200_000


def tagged(left: DataFrame, right: DataFrame) -> DataFrame:
    """Both sides in one frame: `_side`, and the row under `_left` or `_right`."""
    kinds = [StructType(frame.schema.fields) for frame in (left, right)]
    return left.select(
        sf.lit(LEFT).alias("_side"),
        sf.struct(*columns_of(left)).alias("_left"),
        sf.lit(None).cast(kinds[1]).alias("_right"),
    ).union(
        right.select(
            sf.lit(RIGHT).alias("_side"),
            sf.lit(None).cast(kinds[0]).alias("_left"),
            sf.struct(*columns_of(right)).alias("_right"),
        )
    )


def side_rows(frame: DataFrame, which: int) -> DataFrame:
    name = "_left" if which == LEFT else "_right"
    return frame.where(sf.col("_side") == which).select(f"{name}.*")


# --- a stream and a table ---


def stream_table_step(
    frame: DataFrame, node: StreamTableJoin, step: Step, *, news: bool
) -> DataFrame:
    """The stream's rows of this micro-batch, joined. `news`: whether the table may have changed."""
    stream = side_rows(frame, LEFT).where("not _tombstone")
    schema = _struct(frame, "_right")
    key_type = schema["_key"].dataType
    on = (sf.expr(node.on) if node.on else sf.col("_key")).cast(key_type)
    looking = stream.select(on.alias("_on"), sf.struct(*columns_of(stream)).alias("_l"))
    if not news:
        return _stream_result(_looked_up(looking, step, schema), node)
    changes = side_rows(frame, RIGHT)
    seen = _in_order(looking, changes)
    before = step.rows("table", schema)
    known = before.select(sf.col("_key").alias("_on"), sf.struct(*columns_of(before)).alias("_r"))
    both = seen.join(known, "_on", "left")
    now = sf.when(sf.col("_change").isNotNull(), sf.col("_change")).otherwise(sf.col("_r"))
    result = both.select("_l", sf.when(~now["_tombstone"], now).alias("_r"))
    step.update("table", last_changes(changes))
    return _stream_result(result, node)


def _looked_up(looking: DataFrame, step: Step, schema: StructType) -> DataFrame:
    table = step.rows("table", schema)
    known = table.select(sf.col("_key").alias("_on"), sf.struct(*columns_of(table)).alias("_r"))
    if stays_in_place(step, news=False):
        return looking.join(sf.broadcast(known), "_on", "left")
    return looking.join(known.hint("shuffle_hash"), "_on", "left")


def _in_order(looking: DataFrame, changes: DataFrame) -> DataFrame:
    """Stream rows with the last change of the micro-batch before them, if any."""
    kind = StructType(changes.schema.fields)
    rows = looking.select(
        "_on",
        sf.lit(1).alias("_side"),
        sf.col("_l._timestamp").alias("_time"),
        sf.col("_l._partition").alias("_partition"),
        sf.col("_l._offset").alias("_at"),
        "_l",
        sf.lit(None).cast(kind).alias("_r"),
    ).union(
        changes.where("_key is not null").select(
            sf.col("_key").alias("_on"),
            sf.lit(0).alias("_side"),
            sf.col("_timestamp").alias("_time"),
            sf.col("_partition"),
            sf.col("_offset").alias("_at"),
            sf.lit(None).cast(looking.schema["_l"].dataType).alias("_l"),
            sf.struct(*columns_of(changes)).alias("_r"),
        )
    )
    by_offset = (
        Window.partitionBy("_on", "_side", "_partition")
        .orderBy("_at")
        .rowsBetween(Window.unboundedPreceding, Window.currentRow)
    )
    steady = rows.withColumn("_time", sf.max("_time").over(by_offset))
    by_time = (
        Window.partitionBy("_on")
        .orderBy("_time", "_side", "_partition", "_at")
        .rowsBetween(Window.unboundedPreceding, Window.currentRow)
    )
    last = sf.last("_r", ignorenulls=True).over(by_time)
    return steady.withColumn("_change", last).where("_side = 1").select("_on", "_l", "_change")


def stays_in_place(step: Step, *, news: bool) -> bool:
    """Whether the result's rows are in the tasks that read them, in their order."""
    return not news and step.before.rows("table") <= BROADCAST_ROWS


def _stream_result(both: DataFrame, node: StreamTableJoin) -> DataFrame:
    left, right = node.aliases
    kept = both.where("_r is not null") if node.kind == "inner" else both
    named = kept.select(
        sf.col("_l._key").alias("_key"),
        sf.col("_l._timestamp").alias("_timestamp"),
        sf.lit(False).alias("_tombstone"),
        sf.col("_l._partition").alias("_partition"),
        sf.col("_l._offset").alias("_offset"),
        sf.col("_l").alias(left),
        sf.col("_r").alias(right),
    )
    return named.select(*META, *chosen(named, node))


# --- two tables ---


def tables_step(frame: DataFrame, node: TableJoin, step: Step) -> DataFrame:
    """What changed in the join of two tables."""
    changes = [step.hold(last_changes(side_rows(frame, which))) for which in (LEFT, RIGHT)]
    before = [step.rows(name, _struct(frame, f"_{name}")) for name in ("left", "right")]
    after = [
        step.update(name, changed) for name, changed in zip(("left", "right"), changes, strict=True)
    ]
    touched = step.hold(_touched(node, changes, before, after))
    old = _joined(before[0], before[1], touched, node)
    new = _joined(after[0], after[1], touched, node)
    return difference(old, new)


def _touched(
    node: TableJoin, changes: list[DataFrame], before: list[DataFrame], after: list[DataFrame]
) -> DataFrame:
    """Keys of the result that may have changed."""
    own = changes[0].select("_key")
    if node.on is None:
        return own.union(changes[1].select("_key")).distinct()
    news = changes[1].select(sf.col("_key").alias("_to"))
    referring = (
        before[0]
        .select("_key", _foreign(node, changes[1]).alias("_to"))
        .union(after[0].select("_key", _foreign(node, changes[1]).alias("_to")))
    )
    return own.union(referring.join(news, "_to", "left_semi").select("_key")).distinct()


def _foreign(node: TableJoin, right: DataFrame) -> Any:
    key = sf.expr(node.on) if node.on else sf.col("_key")
    return key.cast(right.schema["_key"].dataType)


def _joined(left: DataFrame, right: DataFrame, touched: DataFrame, node: TableJoin) -> DataFrame:
    names = node.aliases
    lefts = left.join(touched, "_key", "left_semi").select(
        sf.col("_key").alias("_left_key"),
        _foreign(node, right).alias("_to"),
        sf.struct(*columns_of(left)).alias(names[0]),
    )
    rights = right if node.on else right.join(touched, "_key", "left_semi")
    rights = rights.select(
        sf.col("_key").alias("_right_key"), sf.struct(*columns_of(right)).alias(names[1])
    )
    kind = "outer" if node.kind == "full" else node.kind
    both = lefts.join(rights, sf.col("_to") == sf.col("_right_key"), kind)
    later = sf.greatest(sf.col(f"`{names[0]}`._timestamp"), sf.col(f"`{names[1]}`._timestamp"))
    return both.select(
        sf.coalesce("_left_key", "_right_key").alias("_key"),
        later.alias("_timestamp"),
        sf.lit(False).alias("_tombstone"),
        sf.lit(None).cast("int").alias("_partition"),
        sf.lit(None).cast("bigint").alias("_offset"),
        *chosen(both, node),
    )


def _struct(frame: DataFrame, name: str) -> StructType:
    kind = frame.schema[name].dataType
    assert isinstance(kind, StructType)
    return StructType(list(kind.fields))
