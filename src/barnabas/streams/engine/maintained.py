"""Aggregates on kept state: of tables, whose rows change, and of windows that Spark's own
aggregation cannot tell of: sliding ones, sessions as they change, late rows set aside.

Both compute the groups a micro-batch touches as they were and as they are, with plain batch
aggregation, and tell what differs. Windows keep the rows of windows that are still open. Time
stands still within a micro-batch: a row is late, and a window closed, by the newest time of the
micro-batches before.
"""

from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import Window as Over
from pyspark.sql import functions as sf

from barnabas.streams.engine.folding import columns_of, difference, last_changes
from barnabas.streams.engine.grouping import as_result, grouped, interval
from barnabas.streams.engine.state import Step
from barnabas.streams.nodes import Aggregate
from barnabas.streams.windows import Emit, Shape, Window

TIME = "newest_ms"


# --- groups of a table ---


def table_groups_step(rows: DataFrame, node: Aggregate, step: Step) -> DataFrame:
    """What changed in the groups of a table."""
    changes = step.hold(last_changes(rows))
    before = step.rows("table", rows.schema)
    after = step.update("table", changes)
    keys = changes.select("_key")
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
    return whole.join(touched, whole["_group"].eqNullSafe(touched["_group"]), "left_semi").drop(
        "_group"
    )


# --- windows ---


def windows_step(rows: DataFrame, node: Aggregate, step: Step) -> tuple[DataFrame, DataFrame]:
    """What is to be told of windows, and the late rows."""
    assert node.window is not None
    window = node.window
    was = step.facts.get(TIME)
    fresh = rows.where("not _tombstone")
    on_time, late = _parted(fresh, window, was)
    newest = fresh.agg(sf.max(sf.unix_millis("_timestamp"))).first()
    now = max((t for t in (was, newest[0] if newest else None) if t is not None), default=None)
    step.facts[TIME] = now
    before = _open_rows(step.rows("rows", rows.schema), node, was)
    after = step.replace("rows", before.union(on_time))
    if node.emit is Emit.FINAL:
        return _just_closed(after, node, was, now), late
    touched = step.hold(_group_keys(on_time, node).distinct())
    old = _still_open(results(_of_groups(before, touched, node), node), window, was)
    new = _still_open(results(_of_groups(after, touched, node), node), window, was)
    return difference(old, new), late


def results(rows: DataFrame, node: Aggregate) -> DataFrame:
    """The aggregates of all windows of some rows."""
    assert node.window is not None
    if node.window.shape is not Shape.SLIDING:
        return grouped(rows, node)
    return _sliding(rows, node, node.window)


def _sliding(rows: DataFrame, node: Aggregate, window: Window) -> DataFrame:
    """For each time of a group, the rows up to it and less than the size before."""
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


def last_end_ms(window: Window) -> Any:
    """The end of the last window a row can be in."""
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
    """Rows some open window may still need."""
    assert node.window is not None
    window = node.window
    if was is None:
        return rows
    if window.shape is not Shape.SESSION:
        return rows.where(last_end_ms(window) + window.grace_ms > was)
    group = sf.struct(*(sf.expr(text).alias(name) for name, text in node.keys))
    by_time = Over.partitionBy("_group").orderBy("_timestamp")
    gap = sf.unix_millis("_timestamp") - sf.unix_millis(sf.lag("_timestamp").over(by_time))
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


def _closing(window: Window) -> Any:
    return sf.unix_millis("window_end") + window.grace_ms
