"""Requests of the driver to the cluster: partitions, and their first and last offsets.

An exception of the planner ends the whole query, so requests that failed with a transient error are
retried here: by the admin client until its timeout, then as often as the query's options say.
"""

import logging
import re
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from typing import TypeVar

from barnabas.admin import Admin
from barnabas.admin.topic_types import EARLIEST, LATEST, OffsetSpec
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BarnabasError, BrokerError, ConfigError
from barnabas.model.ids import ZERO_UUID, TopicPartition, Uuid
from barnabas.model.records import IsolationLevel
from barnabas.spark.options import admin_settings
from barnabas.spark.source import offsets as positions
from barnabas.spark.source.offsets import (
    CommittedOffsets,
    EarliestOffsets,
    LatestOffsets,
    OffsetLimit,
    Offsets,
    SpecificOffsets,
    TimestampOffsets,
    check_covers,
)
from barnabas.spark.source.options import SourceOptions
from barnabas.spark.source.planner import ClusterView

T = TypeVar("T")
LIST_SECONDS = 10.0
FIRST_RESPONSE_SECONDS = 45.0
_log = logging.getLogger("barnabas.spark")


class SourceCluster:
    """Requests of the driver: partitions, and their first and last offsets.

    Owned by one reader on the driver, which closes it.
    """

    def __init__(self, options: SourceOptions) -> None:
        self._options = options
        self._admin = Admin(admin_settings(options.client))
        self._isolation = (
            IsolationLevel.READ_COMMITTED
            if options.read_committed
            else IsolationLevel.READ_UNCOMMITTED
        )
        self._pause = threading.Event()
        self._known: tuple[float, dict[TopicPartition, Uuid]] | None = None
        self._has_response = False

    def close(self) -> None:
        self._admin.close()

    def partitions(self, *, may_be_gone: bool = False) -> dict[TopicPartition, Uuid]:
        """Returns the subscribed partitions with the ids of their topics.

        A subscribed topic that does not exist is an error, except with `may_be_gone`, for a query
        that is already running.
        """
        return self._with_retries(lambda: self._partitions(may_be_gone))

    def view(self) -> ClusterView:
        """Returns the current ends of all partitions."""

        def attempt() -> ClusterView:
            topic_partitions = self._known_partitions()
            ids = {
                topic_partition.topic: uuid
                for topic_partition, uuid in topic_partitions.items()
                if uuid != ZERO_UUID
            }
            try:
                return ClusterView(self._listed(dict.fromkeys(topic_partitions, LATEST)), ids)
            except BarnabasError:
                self._known = None  # one of the topics may have been deleted
                raise

        return self._with_retries(attempt)

    def latest(self, topic_partitions: Iterable[TopicPartition]) -> Offsets:
        return self._with_retries(lambda: self._listed(dict.fromkeys(topic_partitions, LATEST)))

    def resolve(
        self, limit: OffsetLimit, topic_partitions: Iterable[TopicPartition], option: str
    ) -> Offsets:
        """Returns the offsets of a starting or ending limit; errors name `option`."""
        wanted = sorted(topic_partitions)
        if not wanted:
            return {}
        return self._with_retries(lambda: self._resolve(limit, wanted, option))

    def _known_partitions(self) -> dict[TopicPartition, Uuid]:
        """Returns the partitions of a running query, from the cache while it is fresh."""
        limit_ms, now = self._options.metadata_cache_ms, time.monotonic()
        if limit_ms is not None and self._known is not None:
            seen, topic_partitions = self._known
            if (now - seen) * 1000 < limit_ms:
                return topic_partitions
        self._known = now, self._partitions(may_be_gone=True)
        return self._known[1]

    def _partitions(self, may_be_gone: bool) -> dict[TopicPartition, Uuid]:
        names = self._topic_names()
        described = self._admin.describe_topics(names) if names else {}
        found: dict[TopicPartition, Uuid] = {}
        for name in names:
            try:
                topic = described[name]
            except BrokerError as error:
                if error.code is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION and may_be_gone:
                    continue
                raise
            for item in topic.partitions:
                found[TopicPartition(name, item.partition)] = topic.topic_id
        return self._assigned(found, may_be_gone)

    def _topic_names(self) -> list[str]:
        subscription = self._options.subscription
        if subscription.pattern is not None:
            pattern = re.compile(subscription.pattern)
            listed = (topic.name for topic in self._admin.list_topics())
            return [name for name in listed if pattern.search(name)]
        if subscription.topics:
            return list(subscription.topics)
        return sorted({topic_partition.topic for topic_partition in subscription.assigned})

    def _assigned(
        self, found: dict[TopicPartition, Uuid], may_be_gone: bool
    ) -> dict[TopicPartition, Uuid]:
        wanted = self._options.subscription.assigned
        if not wanted:
            return found
        missing = [topic_partition for topic_partition in wanted if topic_partition not in found]
        if missing and not may_be_gone:
            raise ConfigError(f"assign: partition {missing[0]} does not exist")
        return {
            topic_partition: found[topic_partition]
            for topic_partition in wanted
            if topic_partition in found
        }

    def _resolve(
        self, limit: OffsetLimit, topic_partitions: list[TopicPartition], option: str
    ) -> Offsets:
        match limit:
            case EarliestOffsets():
                return self._listed(dict.fromkeys(topic_partitions, EARLIEST))
            case LatestOffsets():
                return self._listed(dict.fromkeys(topic_partitions, LATEST))
            case SpecificOffsets(offsets):
                check_covers(option, offsets, topic_partitions)
                return self._specific(offsets)
            case TimestampOffsets():
                return self._by_time(limit, topic_partitions, option)
            case CommittedOffsets(group):
                return self._of_group(group, topic_partitions)

    def _specific(self, offsets: Mapping[TopicPartition, int]) -> Offsets:
        words = {
            topic_partition: EARLIEST if offset == positions.EARLIEST else LATEST
            for topic_partition, offset in offsets.items()
            if offset < 0
        }
        return {**offsets, **(self._listed(words) if words else {})}

    def _by_time(
        self, limit: TimestampOffsets, topic_partitions: list[TopicPartition], option: str
    ) -> Offsets:
        if not isinstance(limit.timestamps, int):
            check_covers(option, limit.timestamps, topic_partitions)
        specs = {
            topic_partition: OffsetSpec.at(limit.of(topic_partition))
            for topic_partition in topic_partitions
        }
        responses = self._admin.list_offsets(specs, isolation=self._isolation).check()
        found = {
            topic_partition: listed.offset
            for topic_partition, listed in responses.items()
            if listed.offset is not None
        }
        late = [
            topic_partition for topic_partition in topic_partitions if topic_partition not in found
        ]
        if late and option.startswith("starting") and not self._options.latest_when_no_match:
            raise ConfigError(
                f"{option}: {late[0]} has no record at or after {limit.of(late[0])}; "
                "startingOffsetsByTimestampStrategy=latest would begin at its end"
            )
        return {**found, **(self._listed(dict.fromkeys(late, LATEST)) if late else {})}

    def _of_group(self, group: str, topic_partitions: list[TopicPartition]) -> Offsets:
        committed = self._admin.list_group_offsets([group])[group]
        found = {
            topic_partition: committed[topic_partition].offset
            for topic_partition in topic_partitions
            if topic_partition in committed
        }
        rest = [
            topic_partition for topic_partition in topic_partitions if topic_partition not in found
        ]
        return {**found, **(self._listed(dict.fromkeys(rest, EARLIEST)) if rest else {})}

    def _listed(self, specs: Mapping[TopicPartition, OffsetSpec]) -> Offsets:
        if not specs:
            return {}
        # The short timeout is for a topic that was deleted meanwhile: it would be retried.
        responses = self._admin.list_offsets(
            specs, isolation=self._isolation, timeout=LIST_SECONDS
        ).check()
        return {
            topic_partition: listed.offset or 0 for topic_partition, listed in responses.items()
        }

    def _with_retries(self, attempt: Callable[[], T]) -> T:
        begin = time.monotonic()
        for left in range(self._options.offset_retries, -1, -1):
            try:
                found = attempt()
            except BarnabasError as error:
                if not (error.retriable and left) or self._is_unreachable(begin):
                    raise
                _log.warning("the request for offsets failed and is retried: %s", error)
            else:
                self._has_response = True
                return found
            self._pause.wait(self._options.offset_retry_ms / 1000)
        raise AssertionError("unreachable")

    def _is_unreachable(self, begin: float) -> bool:
        """Returns whether no request has succeeded within the client's own timeout: the address is
        probably wrong, and a retry would not help."""
        return not self._has_response and time.monotonic() > begin + FIRST_RESPONSE_SECONDS
