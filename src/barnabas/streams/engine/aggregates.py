"""Aggregates: with Spark's streaming aggregation, or on tables of `state`.

Spark's own aggregation serves streams. Tables, whose rows change, and windows that Spark cannot
emit (sliding windows, sessions as they change, late rows in a separate topic) use kept state: the
groups that a micro-batch touches are computed before and after it, with plain batch aggregation,
and the difference is written. State for windows has the rows of windows that are still open. Time
does not advance within a micro-batch: the newest time of the earlier micro-batches decides whether
a row is late and whether a window is closed.
"""

from pyspark.sql import Column, DataFrame
from pyspark.sql import Window as Over
from pyspark.sql import functions as sf

from barnabas.model.errors import ConfigError
from barnabas.streams.engine.rows import columns_of, difference, last_changes
from barnabas.streams.engine.state import BatchState
from barnabas.streams.nodes import Aggregate
from barnabas.streams.windows import Emit, Shape, Window

WINDOW_COLUMNS = ("window_start", "window_end")
TIME = "newest_ms"


def interval(milliseconds: int) -> str:
    """Returns the text of an interval for Spark SQL."""
    return f"{milliseconds} milliseconds"


def grouped(frame: DataFrame, node: Aggregate) -> DataFrame:
    """Returns the aggregates of each group as rows; tombstones are in no group.

    The frame can be a streaming frame; with a window it has its watermark already.
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
        # _first and _latest give the bounds of sessions and the time of the result.
        sf.min("_timestamp").alias("_first"),
        sf.max("_timestamp").alias("_latest"),
    )
    if window is not None and window.shape is Shape.SESSION:
        made = made.withColumn("_window", _session_bounds(window))
    return as_result(made, node)


def _session_bounds(window: Window) -> Column:
    """Returns the bounds of a session from its own first and last row.

    Spark pushes filters on the grouping column below the aggregation. There each row is still a
    separate session, so a filter would drop rows of long sessions.
    """
    end = sf.col("_latest") + sf.expr(f"interval {interval(window.size_ms)}")
    return sf.struct(sf.col("_first").alias("start"), end.alias("end"))


def window_column(window: Window) -> Column:
    """Returns Spark's window expression of a row's time."""
    if window.shape is Shape.SESSION:
        return sf.session_window("_timestamp", interval(window.size_ms))
    return sf.window("_timestamp", interval(window.size_ms), interval(window.advance_ms))


def as_result(made: DataFrame, node: Aggregate) -> DataFrame:
    """Returns group keys, `_window`, aggregates and `_latest` as rows with their key."""
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
    """Returns the frame with a watermark: windows close one grace period after their end."""
    if window is None:
        return frame
    return frame.withWatermark("_timestamp", interval(window.grace_ms))


# --- groups of a table ---


def table_groups_step(rows: DataFrame, node: Aggregate, step: BatchState) -> DataFrame:
    """Returns the changes of the groups of a table in one micro-batch."""
    changes = step.hold(last_changes(rows))
    before = step.rows("table", rows.schema)
    after = step.update("table", changes)
    keys = changes.select("_key")
    # A changed row can leave one group and enter another; both groups get a new result. Only
    # these groups are computed again, from all their rows, so any aggregate function works, also
    # one that cannot subtract a row.
    left = _group_keys(before.join(keys, "_key", "left_semi"), node)
    entered = _group_keys(after.join(keys, "_key", "left_semi"), node)
    touched = step.hold(left.union(entered).distinct())
    old = grouped(_of_groups(before, touched, node), node)
    new = grouped(_of_groups(after, touched, node), node)
    return difference(old, new)


def _group_keys(rows: DataFrame, node: Aggregate) -> DataFrame:
    return rows.select(sf.struct(*(sf.expr(t).alias(n) for n, t in node.keys)).alias("_group"))


def _of_groups(rows: DataFrame, touched: DataFrame, node: Aggregate) -> DataFrame:
    group = sf.struct(*(sf.expr(text).alias(name) for name, text in node.keys))
    whole = rows.withColumn("_group", group)
    # eqNullSafe: rows whose group key is null form a group of their own.
    return whole.join(touched, whole["_group"].eqNullSafe(touched["_group"]), "left_semi").drop(
        "_group"
    )


# --- windows ---


def windows_step(rows: DataFrame, node: Aggregate, step: BatchState) -> tuple[DataFrame, DataFrame]:
    """Returns the changes of windows, or closed windows, and the late rows of a micro-batch."""
    assert node.window is not None
    window = node.window
    was = step.facts.get(TIME)
    fresh = rows.where("not _tombstone")
    # Lateness is decided by the time before this micro-batch: rows of one micro-batch must not
    # make each other late.
    on_time, late = _parted(fresh, window, was)
    newest = fresh.agg(sf.max(sf.unix_millis("_timestamp"))).first()
    now = max((t for t in (was, newest[0] if newest else None) if t is not None), default=None)
    step.facts[TIME] = now
    before = _open_rows(step.rows("rows", rows.schema), node, was)
    after = step.replace("rows", before.union(on_time))
    if node.emit is Emit.FINAL:
        return _just_closed(after, node, was, now), late
    touched = step.hold(_group_keys(on_time, node).distinct())
    # The difference of all results before and after has the changed windows, and tombstones of
    # sessions that were merged.
    old = _still_open(results(_of_groups(before, touched, node), node), window, was)
    new = _still_open(results(_of_groups(after, touched, node), node), window, was)
    return difference(old, new), late


def results(rows: DataFrame, node: Aggregate) -> DataFrame:
    """Returns the aggregates of all windows of some rows."""
    assert node.window is not None
    if node.window.shape is not Shape.SLIDING:
        return grouped(rows, node)
    return _sliding(rows, node, node.window)


def _sliding(rows: DataFrame, node: Aggregate, window: Window) -> DataFrame:
    """Returns, for each time of a group, the aggregate of the rows in the window that ends
    there."""
    keys = [(name, sf.expr(text)) for name, text in node.keys]
    ends = rows.select(
        sf.struct(*(key.alias(name) for name, key in keys)).alias("_anchor_group"),
        sf.col("_timestamp").alias("_end"),
    ).distinct()
    members = rows.withColumn("_group", sf.struct(*(key.alias(name) for name, key in keys)))
    near = (
        members["_group"].eqNullSafe(ends["_anchor_group"])
        & (members["_timestamp"] <= ends["_end"])
        & (members["_timestamp"] > ends["_end"] - sf.expr(f"interval {interval(window.size_ms)}"))
    )
    both = ends.join(members, near)
    made = both.groupBy(
        *(sf.col(f"_anchor_group.`{n}`").alias(n) for n, _ in node.keys), "_end"
    ).agg(
        *(sf.expr(text).alias(name) for name, text in node.aggregates),
        sf.max("_timestamp").alias("_latest"),
    )
    start = sf.col("_end") - sf.expr(f"interval {interval(window.size_ms)}")
    bounds = sf.struct(start.alias("start"), sf.col("_end").alias("end"))
    return as_result(made.withColumn("_window", bounds), node)


def last_end_ms(window: Window) -> Column:
    """Returns the end of the last window that contains a row."""
    time = sf.unix_millis("_timestamp")
    if window.shape in (Shape.SESSION, Shape.SLIDING):
        return time + window.size_ms
    return time - sf.pmod(time, sf.lit(window.advance_ms)) + window.size_ms


def _parted(rows: DataFrame, window: Window, was: int | None) -> tuple[DataFrame, DataFrame]:
    if was is None:
        return rows, rows.limit(0)
    late = last_end_ms(window) + window.grace_ms <= was
    return rows.where(~late), rows.where(late)


def _open_rows(rows: DataFrame, node: Aggregate, was: int | None) -> DataFrame:
    """Returns the rows that a window which is still open needs."""
    assert node.window is not None
    window = node.window
    if was is None:
        return rows
    if window.shape is not Shape.SESSION:
        return rows.where(last_end_ms(window) + window.grace_ms > was)
    group = sf.struct(*(sf.expr(text).alias(name) for name, text in node.keys))
    by_time = Over.partitionBy("_group").orderBy("_timestamp")
    gap = sf.unix_millis("_timestamp") - sf.unix_millis(sf.lag("_timestamp").over(by_time))
    # Numbers the sessions of a group: a row starts a new one if the gap to the row before is too
    # large. A session is kept or dropped as a whole, because a late row may still extend it.
    begins = sf.when(gap <= window.size_ms, 0).otherwise(1)
    numbered = rows.withColumn("_group", group).withColumn("_begins", begins)
    numbered = numbered.withColumn("_session", sf.sum("_begins").over(by_time))
    session = Over.partitionBy("_group", "_session")
    end = sf.unix_millis(sf.max("_timestamp").over(session)) + window.size_ms
    kept = numbered.withColumn("_until", end + window.grace_ms).where(sf.col("_until") > was)
    return kept.select(*columns_of(rows))


def _still_open(made: DataFrame, window: Window, was: int | None) -> DataFrame:
    if was is None:
        return made
    return made.where(_closing(window) > was)


def _just_closed(rows: DataFrame, node: Aggregate, was: int | None, now: int | None) -> DataFrame:
    assert node.window is not None
    made = results(rows, node)
    if now is None:
        return made.limit(0)
    return _still_open(made, node.window, was).where(_closing(node.window) <= now)


def _closing(window: Window) -> Column:
    return sf.unix_millis("window_end") + window.grace_ms
