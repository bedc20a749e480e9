"""Detects queries whose checkpoint is gone although they have written results before.

A stateful query without its checkpoint begins with empty state: a count of 2 would silently become
1, if its source no longer has the first record. A query that writes an internal topic would write
every record there a second time. Such a run is refused, or everything is computed again.
"""

import logging
from collections.abc import Iterable

from barnabas.admin import EARLIEST, LATEST, Admin
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BrokerError
from barnabas.model.ids import TopicPartition
from barnabas.streams.engine.stage_query import StageQuery
from barnabas.streams.engine.state import Folder
from barnabas.streams.errors import LostStateError
from barnabas.streams.nodes import Through, TopicSink, ViewSink
from barnabas.streams.stages import Plan
from barnabas.streams.views import count_rows

_log = logging.getLogger("barnabas.streams")


class LostState:
    """Looks for lost checkpoints of one topology, before its queries start."""

    def __init__(self, made: Plan, queries: list[StageQuery], admin: Admin) -> None:
        self._queries = queries
        self._admin = admin
        self._internal = {
            topic.name
            for node, topic in made.cuts.items()
            if not (isinstance(node, Through) and node.topic is not None)
        }

    def refuse(self) -> None:
        """LostStateError names the first query whose checkpoint is gone, and what to do."""
        for query in self._queries:
            evidence = self._evidence(query)
            if evidence is not None:
                raise LostStateError(
                    f"query {query.name} has no checkpoint in {query.checkpoint}, but {evidence} "
                    "already: its state is lost, and results computed without it would be wrong. "
                    "Restore the checkpoint directory from a copy; or compute everything again "
                    "from the source topics with Runner(..., lost_state='rebuild'). Use that too "
                    "if this query is new and another program has written there"
                )

    def rebuild(self) -> bool:
        """Prepare to compute everything again if a checkpoint is gone; returns whether one is.

        Internal topics, views and the remaining checkpoints of the topology are deleted. Output
        topics keep their records: keys that the sources no longer have keep their last value.
        """
        lost = [query.name for query in self._queries if self._evidence(query) is not None]
        if not lost:
            return False
        _log.info("%s has no checkpoint: everything is computed from the sources", lost[0])
        for query in self._queries:
            folder = Folder(query.setting.spark, query.setting.checkpoint)
            for name in (query.stage.name, f"{query.stage.name}-state"):
                folder.delete(name)
            for sink in query.stage.outputs:
                if isinstance(sink, ViewSink):
                    count_rows(sink.path, sink.name, delete=True)
        self._delete_topics(self._internal)
        return True

    def _evidence(self, query: StageQuery) -> str | None:
        """Returns the evidence that a query without a checkpoint has run before, or None."""
        writes_internal = any(topic in self._internal for topic in query.written_topics)
        if query.stage.core is None and not writes_internal:
            return None  # it only repeats records
        if Folder(query.setting.spark, query.checkpoint).names("offsets"):
            return None
        for sink in query.stage.outputs:
            if isinstance(sink, ViewSink) and count_rows(sink.path, sink.name):
                return f"the view {sink.name} in {sink.path} has rows"
            if not isinstance(sink, TopicSink):
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
