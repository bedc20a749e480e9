"""Joins with tables, a micro-batch at a time, on the tables' kept state.

A stream with a table: each row meets the table as it was at the row's time. Changes of a key count
in the order of their offsets: one whose time is before that of an earlier change counts from the
earlier one's. So the changes of a micro-batch become spans of time, at most one of which holds a
row's; a row before the first of them meets the table as it was before the micro-batch. The rows
themselves are not sorted, and while the table and its changes are small they stay where they are.

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
    before = step.rows("table", schema)
    known = before.select(sf.col("_key").alias("_on"), sf.struct(*columns_of(before)).alias("_r"))
    if not news:
        return _stream_result(_placed(looking, known, step, ["_on"]), node)
    spans = step.hold(_spans(side_rows(frame, RIGHT)))
    step.update("table", spans.where("_until is null").select("_change.*"))
    return _stream_result(_met(looking, known, spans, step), node)


def _spans(changes: DataFrame) -> DataFrame:
    """From when until before when each change of a key is what rows meet."""
    by_offset = (
        Window.partitionBy("_on", "_partition")
        .orderBy("_offset")
        .rowsBetween(Window.unboundedPreceding, Window.currentRow)
    )
    by_time = Window.partitionBy("_on").orderBy("_since", "_partition", "_offset")
    keyed = changes.where("_key is not null").select(
        sf.col("_key").alias("_on"),
        "_partition",
        "_offset",
        "_timestamp",
        sf.struct(*columns_of(changes)).alias("_change"),
    )
    timed = keyed.repartition("_on").withColumn("_since", sf.max("_timestamp").over(by_offset))
    lasting = timed.withColumn("_until", sf.lead("_since").over(by_time))
    kept = lasting.where("_until is null or _since < _until")
    return kept.select("_on", "_since", "_until", "_change")


def _met(looking: DataFrame, known: DataFrame, spans: DataFrame, step: Step) -> DataFrame:
    """Rows with the change whose span holds their time, or else with the table before it."""
    time = sf.col("_l._timestamp")
    begun = (sf.col("_change_on") == sf.col("_on")) & (sf.col("_since") <= time)
    within = begun & (sf.col("_until").isNull() | (time < sf.col("_until")))
    both = _placed(looking, known, step, ["_on"])
    both = _placed(both, spans.withColumnRenamed("_on", "_change_on"), step, within)
    now = sf.coalesce("_change", "_r")
    return both.select("_l", sf.when(~now["_tombstone"], now).alias("_r"))


def _placed(rows: DataFrame, table: DataFrame, step: Step, on: Any) -> DataFrame:
    """Left join: a small table goes to the rows, otherwise both go to where their keys belong."""
    small = stays_in_place(step)
    return rows.join(sf.broadcast(table) if small else table.hint("shuffle_hash"), on, "left")


def stays_in_place(step: Step) -> bool:
    """Whether the result's rows are in the tasks that read them, in their order."""
    return max(step.before.rows("table"), step.changed("table")) <= BROADCAST_ROWS


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
