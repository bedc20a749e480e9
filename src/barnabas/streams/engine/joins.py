"""Joins of streams by Spark, and joins with tables on kept state, a micro-batch at a time.

A stream with a table: each row is joined with the table as of the row's time. The changes of a key
apply in the order of their offsets: a change with an earlier time than the change before it applies
from that change's time on. So the changes of a micro-batch become time spans, at most one of which
contains a row's time; a row before the first span is joined with the table as it was before the
micro-batch. The rows are not sorted, and while the table and its changes are small they are
broadcast, so the rows stay in their tasks.

Two tables: the keys that a micro-batch touches are joined before and after it, and the difference
is written. So the last state of a micro-batch is written, not each intermediate state.
"""

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as sf
from pyspark.sql.types import StructType

from barnabas.streams.engine.aggregates import interval
from barnabas.streams.engine.rows import META, columns_of, difference, last_changes
from barnabas.streams.engine.state import BatchState
from barnabas.streams.nodes import Join, StreamJoin, StreamTableJoin, TableJoin


def chosen(frame: DataFrame, node: Join) -> list[Column]:
    """Returns the columns of the result, from a frame with both sides under their aliases."""
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
    """Returns the joined rows of two frames, with watermarks if they are streaming frames."""
    one, other = node.aliases
    times = [sf.col(f"`{alias}`._timestamp") for alias in node.aliases]
    on = sf.expr(node.on or f"`{one}`._key = `{other}`._key")
    # Spark needs both bounds and the watermarks to know when a row can be removed from the state.
    near = (times[1] >= times[0] - sf.expr(f"interval {interval(node.before_ms)}")) & (
        times[1] <= times[0] + sf.expr(f"interval {interval(node.after_ms)}")
    )
    kind = "outer" if node.kind == "full" else node.kind
    lefts, rights = (_timed(frame, node.grace_ms) for frame in (left, right))
    both = lefts.alias(one).join(rights.alias(other), on & near, kind)
    # The sides become structs only after the join: Spark's pruning of nested columns loses an
    # equality between struct fields, and without an equality it does not join streams.
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


def _joined_side(frame: DataFrame, alias: str) -> Column:
    """Returns a side's row as one column, null if the side has no row."""
    columns = [sf.col(f"`{alias}`.`{name}`").alias(name) for name in frame.columns]
    there = sf.col(f"`{alias}`._timestamp").isNotNull()
    return sf.when(there, sf.struct(*columns)).alias(alias)


LEFT, RIGHT = 0, 1
BROADCAST_ROWS = 200_000


def tagged(left: DataFrame, right: DataFrame) -> DataFrame:
    """Returns both sides in one frame: `_side`, and the row as `_left` or `_right`."""
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
    """Returns the rows of one side of a tagged frame."""
    name = "_left" if which == LEFT else "_right"
    return frame.where(sf.col("_side") == which).select(f"{name}.*")


# --- a stream and a table ---


def stream_table_step(
    frame: DataFrame, node: StreamTableJoin, step: BatchState, *, table_changed: bool
) -> DataFrame:
    """Returns the joined rows of a micro-batch; `table_changed` is False if the table did not
    change.
    """
    stream = side_rows(frame, LEFT).where("not _tombstone")
    schema = _struct(frame, "_right")
    key_type = schema["_key"].dataType
    on = (sf.expr(node.on) if node.on else sf.col("_key")).cast(key_type)
    lookups = stream.select(on.alias("_on"), sf.struct(*columns_of(stream)).alias("_l"))
    before = step.rows("table", schema)
    known = before.select(sf.col("_key").alias("_on"), sf.struct(*columns_of(before)).alias("_r"))
    if not table_changed:
        return _stream_result(_lookup_join(lookups, known, step, ["_on"]), node)
    spans = step.hold(_spans(side_rows(frame, RIGHT)))
    step.update("table", spans.where("_until is null").select("_change.*"))
    return _stream_result(_matched(lookups, known, spans, step), node)


def _spans(changes: DataFrame) -> DataFrame:
    """Returns, for each change of a key, the time span in which rows are joined with it."""
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
    # A change that was written later must win, even if its timestamp is older. So a change begins
    # at the largest timestamp up to its offset.
    timed = keyed.repartition("_on").withColumn("_since", sf.max("_timestamp").over(by_offset))
    lasting = timed.withColumn("_until", sf.lead("_since").over(by_time))
    # Of several changes with the same time only the last one is ever visible.
    kept = lasting.where("_until is null or _since < _until")
    return kept.select("_on", "_since", "_until", "_change")


def _matched(lookups: DataFrame, known: DataFrame, spans: DataFrame, step: BatchState) -> DataFrame:
    """Returns rows with the change whose span contains their time, or else with the earlier
    table."""
    time = sf.col("_l._timestamp")
    begun = (sf.col("_change_on") == sf.col("_on")) & (sf.col("_since") <= time)
    within = begun & (sf.col("_until").isNull() | (time < sf.col("_until")))
    both = _lookup_join(lookups, known, step, ["_on"])
    both = _lookup_join(both, spans.withColumnRenamed("_on", "_change_on"), step, within)
    now = sf.coalesce("_change", "_r")
    return both.select("_l", sf.when(~now["_tombstone"], now).alias("_r"))


def _lookup_join(
    rows: DataFrame, table: DataFrame, step: BatchState, on: Column | list[str]
) -> DataFrame:
    """Joins left: a small table is broadcast to the rows, otherwise both are shuffled by key."""
    small = stays_in_place(step)
    # A broadcast leaves the rows in the tasks and in the order in which they were read. Without
    # the hint Spark would choose a sort-merge join, which sorts the table in every micro-batch.
    return rows.join(sf.broadcast(table) if small else table.hint("shuffle_hash"), on, "left")


def stays_in_place(step: BatchState) -> bool:
    """Returns whether the result's rows are in the tasks that read them, in their order."""
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


def tables_step(frame: DataFrame, node: TableJoin, step: BatchState) -> DataFrame:
    """Returns the changes of the join of two tables in one micro-batch."""
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
    """Returns the keys of the result that may have changed."""
    own = changes[0].select("_key")
    if node.on is None:
        return own.union(changes[1].select("_key")).distinct()
    table_changed = changes[1].select(sf.col("_key").alias("_to"))
    # Rows that refer to a changed row of the right table, before or after this micro-batch: a row
    # can change its foreign key in the same micro-batch.
    referring = (
        before[0]
        .select("_key", _foreign_key(node, changes[1]).alias("_to"))
        .union(after[0].select("_key", _foreign_key(node, changes[1]).alias("_to")))
    )
    return own.union(referring.join(table_changed, "_to", "left_semi").select("_key")).distinct()


def _foreign_key(node: TableJoin, right: DataFrame) -> Column:
    key = sf.expr(node.on) if node.on else sf.col("_key")
    return key.cast(right.schema["_key"].dataType)


def _joined(left: DataFrame, right: DataFrame, touched: DataFrame, node: TableJoin) -> DataFrame:
    names = node.aliases
    lefts = left.join(touched, "_key", "left_semi").select(
        sf.col("_key").alias("_left_key"),
        _foreign_key(node, right).alias("_to"),
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
