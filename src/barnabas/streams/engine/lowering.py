"""Turns nodes into frames: stateless nodes of queries, and whole graphs for bounded reads."""

from collections.abc import Mapping

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as sf

from barnabas.model.errors import ConfigError
from barnabas.spark.options import ClusterSettings
from barnabas.streams.engine.aggregates import grouped, results
from barnabas.streams.engine.joins import chosen, joined_streams
from barnabas.streams.engine.python_rows import mapped, rekeyed, selected
from barnabas.streams.engine.row_errors import ErrorHandling, RowErrors, without_topology
from barnabas.streams.engine.rows import (
    META,
    columns_of,
    empty_rows,
    last_changes,
    own_columns,
    read_topic,
)
from barnabas.streams.nodes import (
    Aggregate,
    ApplyFrame,
    Changes,
    Filter,
    Fold,
    Join,
    Map,
    Merge,
    Project,
    Rekey,
    StreamJoin,
    StreamTableJoin,
    Through,
    TopicSource,
    TopologyNode,
    WithColumns,
    walk,
)


def lower(
    node: TopologyNode, known: Mapping[TopologyNode, DataFrame], handling: ErrorHandling | None
) -> DataFrame:
    """Returns the rows of a node, from the frames in `known` of nodes above it.

    `handling` has the error policies of Python functions; None for bounded reads.
    """
    if node in known:
        return known[node]
    if isinstance(node, Merge):
        return _merged([lower(parent, known, handling) for parent in node.streams])
    if isinstance(node, Changes):
        return lower(node.parent, known, handling)
    if isinstance(node, Project):
        return _select(lower(node.parent, known, handling), node)
    if isinstance(node, WithColumns):
        return _with_columns(lower(node.parent, known, handling), node)
    if isinstance(node, ApplyFrame):
        return _applied(lower(node.parent, known, handling), node)
    if isinstance(node, Filter | Map | Rekey):
        rows = lower(node.parent, known, handling)
        return _with_function(rows, node, handling)
    raise ConfigError(f"{node.label!r} has no rows in this query: an earlier query computes it")


def _with_function(
    rows: DataFrame, node: Filter | Map | Rekey, handling: ErrorHandling | None
) -> DataFrame:
    errors = errors_of(node, handling)
    if isinstance(node, Filter):
        return _where(rows, node, errors)
    if isinstance(node, Rekey):
        return _rekey(rows, node, errors)
    return mapped(rows, node, record_of(node.parent), errors)


def errors_of(node: Filter | Map | Rekey | Fold, handling: ErrorHandling | None) -> RowErrors:
    """Returns the error handling of rows for which a node's function raises an exception."""
    if handling is None:
        return without_topology(node, node.on_error)
    return handling.of(node, node.on_error)


def record_of(node: TopologyNode) -> type | None:
    """Returns the dataclass of a node's rows, if they have one."""
    if isinstance(node, TopicSource):
        return node.topic.schema.record if node.topic.schema else None
    if isinstance(node, Map | Fold):
        return node.into.record
    if isinstance(node, Through) and node.topic and node.topic.schema:
        return node.topic.schema.record
    if isinstance(node, Filter | Rekey | Changes | Through | Merge):
        return record_of(node.parents[0])
    return None


def meta() -> list[Column]:
    return [sf.col(name) for name in META]


def _applied(frame: DataFrame, node: ApplyFrame) -> DataFrame:
    made: DataFrame = node.function(frame)
    if not isinstance(made, DataFrame):
        raise ConfigError(f"{node.label!r} returned {type(made).__name__}, not a DataFrame")
    if not node.reserved:
        return made
    kinds = {name: frame.schema[name].dataType for name in META}
    empty = {name: sf.lit(None).cast(kind) for name, kind in kinds.items()}
    empty["_tombstone"] = sf.lit(False)
    missing = {name: value for name, value in empty.items() if name not in made.columns}
    whole = made.withColumns(missing) if missing else made
    return whole.select(*META, *(f"`{name}`" for name in own_columns(whole)))


def _with_columns(frame: DataFrame, node: WithColumns) -> DataFrame:
    return frame.withColumns({name: sf.expr(text) for name, text in node.columns})


def _select(frame: DataFrame, node: Project) -> DataFrame:
    return frame.select(*meta(), *(sf.expr(text).alias(name) for name, text in node.columns))


def _where(frame: DataFrame, node: Filter, errors: RowErrors) -> DataFrame:
    if isinstance(node.predicate, str):
        holds = sf.expr(node.predicate)
        tested = frame
    else:
        tested = selected(frame, node.predicate, record_of(node.parent), errors)
        holds = sf.col("_holds")
    if not node.is_table:
        return tested.where(holds).drop("_holds")
    gone = sf.col("_tombstone") | ~sf.coalesce(holds, sf.lit(False))
    return tested.withColumn("_tombstone", gone).drop("_holds")


def _rekey(frame: DataFrame, node: Rekey, errors: RowErrors) -> DataFrame:
    if not isinstance(node.key, str):
        return rekeyed(frame, node.key, record_of(node.parent), errors)
    return frame.withColumn("_key", sf.expr(node.key))


def _merged(frames: list[DataFrame]) -> DataFrame:
    first = frames[0]
    for other in frames[1:]:
        if set(own_columns(other)) != set(own_columns(first)):
            raise ConfigError(
                f"merged streams have different columns: {', '.join(own_columns(first))} and "
                f"{', '.join(own_columns(other))}"
            )
        first = first.unionByName(other)
    return first


# --- batch frames, for schemas and bounded reads ---


def empty_frame(node: TopologyNode, spark: SparkSession) -> DataFrame:
    """Returns an empty frame with the columns of a node."""
    return batch_frame(node, {}, spark, None)


def bounded_frame(node: TopologyNode, spark: SparkSession, cluster: ClusterSettings) -> DataFrame:
    """Returns all rows of a node, computed as a batch."""
    frame = batch_frame(node, {}, spark, cluster)
    return frame.where(~sf.col("_tombstone")) if node.is_table else frame


def batch_frame(
    node: TopologyNode,
    frames: dict[TopologyNode, DataFrame],
    spark: SparkSession,
    cluster: ClusterSettings | None,
) -> DataFrame:
    """Returns a node's rows, computed as a batch; without `cluster` the sources are empty.

    `frames` caches the frames of nodes between calls.
    """
    for each in walk([node]):
        if each not in frames:
            frames[each] = _batch_frame_of(each, frames, spark, cluster)
    return frames[node]


def _batch_frame_of(
    node: TopologyNode,
    frames: dict[TopologyNode, DataFrame],
    spark: SparkSession,
    cluster: ClusterSettings | None,
) -> DataFrame:
    if isinstance(node, TopicSource):
        if cluster is None:
            return empty_rows(spark, node.topic)
        rows = read_topic(spark, node.topic, cluster, streaming=False)
        return last_changes(rows).where("not _tombstone") if node.table else rows
    if isinstance(node, Through):
        rows = frames[node.parent]
        return last_changes(rows).where("not _tombstone") if node.table else rows
    if isinstance(node, Aggregate):
        rows = frames[node.parent]
        return results(rows, node) if node.window else grouped(rows, node)
    if isinstance(node, Fold):
        kinds = ", ".join(f"`{field.name}` {field.type}" for field in node.into.fields)
        return _folded_schema(frames[node.parent], kinds, spark)
    if isinstance(node, Join):
        return _batch_join(node, frames)
    return lower(node, {parent: frames[parent] for parent in node.parents}, None)


def _folded_schema(parent: DataFrame, kinds: str, spark: SparkSession) -> DataFrame:
    """Returns an empty frame with the schema of a fold, which has no batch form."""
    own = spark.createDataFrame([], kinds)
    return parent.select(*META).limit(0).crossJoin(own)


def _batch_join(node: Join, frames: dict[TopologyNode, DataFrame]) -> DataFrame:
    left, right = frames[node.left], frames[node.right]
    if isinstance(node, StreamJoin):
        return joined_streams(left, right, node)
    on: str | None = getattr(node, "on", None)
    to = (sf.expr(on) if on else sf.col("_key")).cast(right.schema["_key"].dataType)
    names = node.aliases
    lefts = left.select(*META, to.alias("_to"), sf.struct(*columns_of(left)).alias(names[0]))
    rights = right.select(
        sf.col("_key").alias("_right_key"), sf.struct(*columns_of(right)).alias(names[1])
    )
    kind = "outer" if node.kind == "full" else node.kind
    both = lefts.join(rights, sf.col("_to") == sf.col("_right_key"), kind)
    both = both.withColumn("_key", sf.coalesce("_key", "_right_key"))
    if isinstance(node, StreamTableJoin):
        return both.select(*META, *chosen(both, node))
    both = both.withColumn("_tombstone", sf.lit(False))
    return both.select(*META, *chosen(both, node))
