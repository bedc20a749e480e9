"""From a topology to queries ready to start: schemas, topics that have to exist, settings."""

from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sf

from barnabas.admin import Admin
from barnabas.spark import register, session
from barnabas.spark.client_settings import ClusterSettings
from barnabas.streams.engine.folding import columns_of, last_changes
from barnabas.streams.engine.grouping import grouped
from barnabas.streams.engine.joining import chosen, joined_streams
from barnabas.streams.engine.lost_state import LostState
from barnabas.streams.engine.lowering import lower
from barnabas.streams.engine.maintained import results
from barnabas.streams.engine.row_errors import ErrorHandling
from barnabas.streams.engine.rows import META, empty_rows, read_topic, resolved
from barnabas.streams.engine.stage_query import Setting, StageQuery
from barnabas.streams.nodes import (
    Aggregate,
    Fold,
    Join,
    Node,
    Source,
    StreamJoin,
    StreamTableJoin,
    Through,
    Topic,
)
from barnabas.streams.stages import Plan, plan
from barnabas.streams.topic_creation import create_written_topics
from barnabas.streams.topology import Function, Topology, walk

STATE_SETTINGS = {
    "spark.sql.streaming.stateStore.providerClass": (
        "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
    ),
    # Each micro-batch writes what changed, not all files that changed.
    "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled": "true",
    # Plans that depend on what was seen at run time are not the same when they are run again.
    "spark.sql.adaptive.enabled": "false",
    # Spark would wait for ever for a query that does not stop; now it says so.
    "spark.sql.streaming.stopTimeout": "120s",
}
COPIED_SETTINGS = (
    "spark.sql.shuffle.partitions",
    "spark.sql.session.timeZone",
    "spark.sql.ansi.enabled",
)


def assemble(
    topology: Topology,
    spark: SparkSession | None,
    cluster: ClusterSettings,
    checkpoint: str,
    lost_state: str = "refuse",
) -> list[StageQuery]:
    """The queries of a topology in their order; the topics they write exist afterwards.

    LostStateError if a query's checkpoint is gone, unless `lost_state` is "rebuild".
    """
    own = own_session(spark, topology.functions)
    made = plan(topology)
    topics = known_topics(made, topology, own)
    handling = ErrorHandling(topology, cluster.producer())
    setting = Setting(own, cluster, checkpoint, topics, handling)
    directory = checkpoint.rstrip("/")
    queries = [
        StageQuery(stage, setting, f"{topology.name}-{stage.name}", f"{directory}/{stage.name}")
        for stage in made.stages
    ]
    with Admin(cluster.admin()) as admin:
        lost = LostState(made, queries, admin)
        if lost_state == "rebuild":
            lost.rebuild()
        else:
            lost.refuse()
        create_written_topics(topology, made, topics, admin)
    return queries


def own_session(spark: SparkSession | None, functions: tuple[Function, ...] = ()) -> SparkSession:
    """A session with state in RocksDB; the caller's settings stay as they are."""
    made = (spark or session()).newSession()
    register(made)
    # Spark looks a data source in Python up in the session that is active in its thread: a new
    # thread has none, until a frame is made in it.
    made.createDataFrame([], "nothing int")
    for name, value in STATE_SETTINGS.items():
        made.conf.set(name, value)
    if spark is not None:
        for name in COPIED_SETTINGS:
            made.conf.set(name, spark.conf.get(name) or "")
    for function in functions:
        _register(made, function)
    return made


def _register(spark: SparkSession, function: Function) -> None:
    from pyspark.sql.pandas import functions as kinds

    make: Any = kinds.arrow_udf if function.style == "arrow" else kinds.pandas_udf
    spark.udf.register(function.name, make(function.function, function.returns))


# --- schemas, without data ---


def known_topics(made: Plan, topology: Topology, spark: SparkSession) -> dict[Node, Topic]:
    """Sources as they say, and cuts with the schema of what is written there."""
    frames: dict[Node, DataFrame] = {}
    topics: dict[Node, Topic] = {}
    for node in topology.nodes():
        if isinstance(node, Source):
            topics[node] = node.topic
        elif node in made.cuts:
            written = node.parent if isinstance(node, Through) else node
            topics[node] = resolved(made.cuts[node], _static(written, frames, spark, None))
    return topics


def empty_frame(node: Node, spark: SparkSession) -> DataFrame:
    """No rows of a node, with its columns."""
    return _static(node, {}, spark, None)


def bounded_frame(node: Node, spark: SparkSession, cluster: ClusterSettings) -> DataFrame:
    """All rows of a node, as a batch computes them."""
    frame = _static(node, {}, spark, cluster)
    return frame.where(~sf.col("_tombstone")) if node.is_table else frame


def _static(
    node: Node,
    frames: dict[Node, DataFrame],
    spark: SparkSession,
    cluster: ClusterSettings | None,
) -> DataFrame:
    """A node's rows by batch computation alone; without `cluster` there are none."""
    for each in walk([node]):
        if each not in frames:
            frames[each] = _static_node(each, frames, spark, cluster)
    return frames[node]


def _static_node(
    node: Node,
    frames: dict[Node, DataFrame],
    spark: SparkSession,
    cluster: ClusterSettings | None,
) -> DataFrame:
    if isinstance(node, Source):
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
        return _static_join(node, frames)
    return lower(node, {parent: frames[parent] for parent in node.parents}, None)


def _folded_schema(parent: DataFrame, kinds: str, spark: SparkSession) -> DataFrame:
    """Only its schema: a fold has no batch form here."""
    own = spark.createDataFrame([], kinds)
    return parent.select(*META).limit(0).crossJoin(own)


def _static_join(node: Join, frames: dict[Node, DataFrame]) -> DataFrame:
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
