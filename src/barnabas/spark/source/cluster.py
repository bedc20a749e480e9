"""What the driver asks the cluster: which partitions there are, where they begin and end.

A planner's exception ends the whole query, so a question that may succeed later is asked again
here: by the admin client until its time is up, and after that as often as the query's options say.
"""

import logging
import re
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from typing import TypeVar

from barnabas.admin import Admin
from barnabas.admin.offsets import EARLIEST, LATEST, OffsetSpec
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BarnabasError, BrokerError, ConfigError
from barnabas.model.ids import ZERO_UUID, TopicPartition, Uuid
from barnabas.model.records import IsolationLevel
from barnabas.spark.client_settings import admin_settings
from barnabas.spark.source import offsets as positions
from barnabas.spark.source.offsets import (
    EarliestOffsets,
    GroupOffsets,
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
AGAIN_SECONDS = 45.0
_log = logging.getLogger("barnabas.spark")


class SourceCluster:
    """Owned by one reader on the driver; close it."""

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
        self._answered = False

    def close(self) -> None:
        self._admin.close()

    def partitions(self, *, may_be_gone: bool = False) -> dict[TopicPartition, Uuid]:
        """The partitions subscribed to, with the id of their topic.

        A topic that is named but not there is an error, unless a running query asks.
        """
        return self._again(lambda: self._partitions(may_be_gone))

    def view(self) -> ClusterView:
        """The ends of all partitions as they are now."""

        def ask() -> ClusterView:
            places = self._known_partitions()
            ids = {place.topic: uuid for place, uuid in places.items() if uuid != ZERO_UUID}
            try:
                return ClusterView(self._listed(dict.fromkeys(places, LATEST)), ids)
            except BarnabasError:
                self._known = None  # it may be just that one of them is gone
                raise

        return self._again(ask)

    def latest(self, places: Iterable[TopicPartition]) -> Offsets:
        return self._again(lambda: self._listed(dict.fromkeys(places, LATEST)))

    def resolve(self, limit: OffsetLimit, places: Iterable[TopicPartition], option: str) -> Offsets:
        """Offsets for a starting or ending limit; `option` is whom to name in errors."""
        wanted = sorted(places)
        if not wanted:
            return {}
        return self._again(lambda: self._resolve(limit, wanted, option))

    # -- inside --------------------------------------------------------------------------------

    def _known_partitions(self) -> dict[TopicPartition, Uuid]:
        """Those that a running query reads; asked for when they have been known for too long."""
        limit_ms, now = self._options.metadata_cache_ms, time.monotonic()
        if limit_ms is not None and self._known is not None:
            seen, places = self._known
            if (now - seen) * 1000 < limit_ms:
                return places
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
        return sorted({place.topic for place in subscription.assigned})

    def _assigned(
        self, found: dict[TopicPartition, Uuid], may_be_gone: bool
    ) -> dict[TopicPartition, Uuid]:
        wanted = self._options.subscription.assigned
        if not wanted:
            return found
        missing = [place for place in wanted if place not in found]
        if missing and not may_be_gone:
            raise ConfigError(f"assign: there is no partition {missing[0]}")
        return {place: found[place] for place in wanted if place in found}

    def _resolve(self, limit: OffsetLimit, places: list[TopicPartition], option: str) -> Offsets:
        match limit:
            case EarliestOffsets():
                return self._listed(dict.fromkeys(places, EARLIEST))
            case LatestOffsets():
                return self._listed(dict.fromkeys(places, LATEST))
            case SpecificOffsets(offsets):
                check_covers(option, offsets, places)
                return self._specific(offsets)
            case TimestampOffsets():
                return self._by_time(limit, places, option)
            case GroupOffsets(group):
                return self._of_group(group, places)

    def _specific(self, offsets: Mapping[TopicPartition, int]) -> Offsets:
        words = {
            place: EARLIEST if offset == positions.EARLIEST else LATEST
            for place, offset in offsets.items()
            if offset < 0
        }
        return {**offsets, **(self._listed(words) if words else {})}

    def _by_time(
        self, limit: TimestampOffsets, places: list[TopicPartition], option: str
    ) -> Offsets:
        if not isinstance(limit.timestamps, int):
            check_covers(option, limit.timestamps, places)
        specs = {place: OffsetSpec.at(limit.of(place)) for place in places}
        answers = self._admin.list_offsets(specs, isolation=self._isolation).check()
        found = {
            place: listed.offset for place, listed in answers.items() if listed.offset is not None
        }
        late = [place for place in places if place not in found]
        if late and option.startswith("starting") and not self._options.latest_when_no_match:
            raise ConfigError(
                f"{option}: {late[0]} has no record at or after {limit.of(late[0])}; "
                "startingOffsetsByTimestampStrategy=latest begins at its end then"
            )
        return {**found, **(self._listed(dict.fromkeys(late, LATEST)) if late else {})}

    def _of_group(self, group: str, places: list[TopicPartition]) -> Offsets:
        committed = self._admin.list_group_offsets([group])[group]
        found = {place: committed[place].offset for place in places if place in committed}
        rest = [place for place in places if place not in found]
        return {**found, **(self._listed(dict.fromkeys(rest, EARLIEST)) if rest else {})}

    def _listed(self, specs: Mapping[TopicPartition, OffsetSpec]) -> Offsets:
        if not specs:
            return {}
        # A topic deleted since it was seen would be asked for until the time is up.
        answers = self._admin.list_offsets(
            specs, isolation=self._isolation, timeout=LIST_SECONDS
        ).check()
        return {place: listed.offset or 0 for place, listed in answers.items()}

    def _again(self, ask: Callable[[], T]) -> T:
        begin = time.monotonic()
        for left in range(self._options.offset_retries, -1, -1):
            try:
                found = ask()
            except BarnabasError as error:
                if not (error.retriable and left) or self._never_there(begin):
                    raise
                _log.warning("asking the cluster for offsets failed, trying again: %s", error)
            else:
                self._answered = True
                return found
            self._pause.wait(self._options.offset_retry_ms / 1000)
        raise AssertionError("unreachable")

    def _never_there(self, begin: float) -> bool:
        """Whether the cluster has not been seen, in a time in which the client gave up by itself:
        more likely a wrong address than brokers that come back."""
        return not self._answered and time.monotonic() > begin + AGAIN_SECONDS
