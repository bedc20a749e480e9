"""Prepares the queries of a topology: session, schemas, lost state, topics.

A stateful query without its checkpoint starts with empty state: a count of 2 would silently become
1 if its source no longer has the first record. A query that writes an internal topic would write
every record there a second time. `LostState` detects such queries before they start.
"""

import logging
from collections.abc import Iterable
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.pandas import functions as kinds

from barnabas.admin import EARLIEST, LATEST, Admin
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BrokerError
from barnabas.model.ids import TopicPartition
from barnabas.spark import register, session
from barnabas.spark.options import ClusterSettings
from barnabas.streams.engine.lowering import batch_frame
from barnabas.streams.engine.row_errors import ErrorHandling
from barnabas.streams.engine.rows import (
    resolved,
)
from barnabas.streams.engine.stage_query import QueryContext, StageQuery
from barnabas.streams.engine.state import Folder
from barnabas.streams.nodes import (
    RowSink,
    Through,
    Topic,
    TopicSource,
    TopologyNode,
    ViewSink,
)
from barnabas.streams.stages import LostStateError, Plan
from barnabas.streams.topics import create_written_topics
from barnabas.streams.topology import Function, Topology
from barnabas.streams.views import count_rows

STATE_SETTINGS = {
    "spark.sql.streaming.stateStore.providerClass": (
        "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
    ),
    # Each micro-batch writes a changelog instead of the complete changed files.
    "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled": "true",
    # Adaptive plans depend on run-time statistics, so a replayed micro-batch could differ.
    "spark.sql.adaptive.enabled": "false",
    # Without a limit Spark would wait indefinitely for a query that does not stop.
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
    """Returns the queries of a topology in their order; the topics that they write exist
    afterwards.

    Raises LostStateError if the checkpoint of a query is gone, unless `lost_state` is "rebuild".
    """
    own = own_session(spark, topology.functions)
    made = topology.plan()
    topics = known_topics(made, topology, own)
    handling = ErrorHandling(topology, cluster.producer())
    context = QueryContext(own, cluster, checkpoint, topics, handling)
    directory = checkpoint.rstrip("/")
    queries = [
        StageQuery(stage, context, f"{topology.name}-{stage.name}", f"{directory}/{stage.name}")
        for stage in made.stages
    ]
    with Admin(cluster.admin()) as admin:
        lost = LostState(made, queries, admin)
        if lost_state == "rebuild":
            lost.rebuild()
        else:
            lost.raise_if_lost()
        create_written_topics(topology, made, topics, admin)
    return queries


def own_session(spark: SparkSession | None, functions: tuple[Function, ...] = ()) -> SparkSession:
    """Returns a session with state in RocksDB; the caller's session keeps its settings."""
    made = (spark or session()).newSession()
    register(made)
    # Spark looks up a Python data source in the active session of the thread. A new thread has no
    # active session until a frame is created in it.
    made.createDataFrame([], "unused int")
    for name, value in STATE_SETTINGS.items():
        made.conf.set(name, value)
    if spark is not None:
        for name in COPIED_SETTINGS:
            made.conf.set(name, spark.conf.get(name) or "")
    for function in functions:
        _register(made, function)
    return made


def known_topics(made: Plan, topology: Topology, spark: SparkSession) -> dict[TopologyNode, Topic]:
    """Returns the topics of sources as defined, and those of cuts with the schema of the written
    rows.
    """
    frames: dict[TopologyNode, DataFrame] = {}
    topics: dict[TopologyNode, Topic] = {}
    for node in topology.nodes():
        if isinstance(node, TopicSource):
            topics[node] = node.topic
        elif node in made.cuts:
            written = node.parent if isinstance(node, Through) else node
            topics[node] = resolved(made.cuts[node], batch_frame(written, frames, spark, None))
    return topics


def _register(spark: SparkSession, function: Function) -> None:
    make: Any = kinds.arrow_udf if function.style == "arrow" else kinds.pandas_udf
    spark.udf.register(function.name, make(function.function, function.returns))


_log = logging.getLogger("barnabas.streams")


class LostState:
    """Detects lost checkpoints of one topology, before its queries start."""

    def __init__(self, made: Plan, queries: list[StageQuery], admin: Admin) -> None:
        self._queries = queries
        self._admin = admin
        self._internal = {
            topic.name
            for node, topic in made.cuts.items()
            if not (isinstance(node, Through) and node.topic is not None)
        }

    def raise_if_lost(self) -> None:
        """Raises LostStateError for the first query whose checkpoint is gone; names the
        remedies."""
        for query in self._queries:
            output = self._earlier_output(query)
            if output is not None:
                raise LostStateError(
                    f"query {query.name} has no checkpoint in {query.checkpoint}, but {output} "
                    "already: its state is lost, and results computed without it would be wrong. "
                    "Restore the checkpoint directory from a copy that is as new as the output; or "
                    "compute everything again from the source topics with "
                    "Runner(..., lost_state='rebuild'). Use 'rebuild' also if this query is new "
                    "and another program has written to its output"
                )

    def rebuild(self) -> bool:
        """Deletes everything that a complete new computation replaces, if a checkpoint is gone.

        Deletes internal topics, views and the remaining checkpoints of the topology. Output topics
        keep their records: keys that the sources no longer have keep their last value. Returns
        whether a checkpoint was gone.
        """
        lost = [query.name for query in self._queries if self._earlier_output(query) is not None]
        if not lost:
            return False
        _log.info("query %s has no checkpoint: everything is computed from the sources", lost[0])
        for query in self._queries:
            folder = Folder(query.context.spark, query.context.checkpoint)
            for name in (query.stage.name, f"{query.stage.name}-state"):
                folder.delete(name)
            for sink in query.stage.outputs:
                if isinstance(sink, ViewSink):
                    count_rows(sink.path, sink.name, delete=True)
        self._delete_topics(self._internal)
        return True

    def _earlier_output(self, query: StageQuery) -> str | None:
        """Returns the output of an earlier run if the checkpoint of a query is gone, else None."""
        writes_internal = any(topic in self._internal for topic in query.written_topics)
        if query.stage.core is None and not writes_internal:
            return None  # without state a new run repeats records, but none of them is wrong
        if Folder(query.context.spark, query.checkpoint).names("offsets"):
            return None
        for sink in query.stage.outputs:
            if isinstance(sink, ViewSink) and count_rows(sink.path, sink.name):
                return f"the view {sink.name} in {sink.path} has rows"
            if not isinstance(sink, RowSink):
                continue
            counts = query.stage.core is not None or sink.topic.name in self._internal
            if counts and self._has_records(sink.topic.name):
                return f"its output topic {sink.topic.name} has records"
        return None

    def _has_records(self, topic: str) -> bool:
        try:
            described = self._admin.describe_topic(topic)
        except BrokerError as error:
            if error.code is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION:
                return False
            raise
        partitions = [TopicPartition(topic, item.partition) for item in described.partitions]
        first = self._admin.list_offsets(dict.fromkeys(partitions, EARLIEST)).check()
        last = self._admin.list_offsets(dict.fromkeys(partitions, LATEST)).check()
        return any((last[item].offset or 0) > (first[item].offset or 0) for item in partitions)

    def _delete_topics(self, topics: Iterable[str]) -> None:
        existing = {listing.name for listing in self._admin.list_topics()}
        names = sorted(existing.intersection(topics))
        if names:
            self._admin.delete_topics(names).check()
