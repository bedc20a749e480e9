"""Options of the source, with the names and defaults of Spark's own Kafka source.

All options are checked before anything is read. An unknown, malformed or contradictory option
raises ConfigError with its name. Options are case-insensitive, as everywhere in Spark.
"""

import re
import zlib
from collections.abc import Mapping
from dataclasses import dataclass

from barnabas.model.errors import ConfigError
from barnabas.model.ids import TopicPartition
from barnabas.spark.formats.decoding import FORMAT_OPTIONS, FormatOptions
from barnabas.spark.options import OptionTexts, check_names, consumer_settings
from barnabas.spark.source.offsets import (
    EARLIEST,
    GROUP_PREFIX,
    LATEST,
    CommittedOffsets,
    EarliestOffsets,
    LatestOffsets,
    OffsetLimit,
    SpecificOffsets,
    TimestampOffsets,
    parse_assignment,
    parse_offsets,
)

SOURCE_OPTIONS = (
    "assign",
    "subscribe",
    "subscribePattern",
    "startingOffsets",
    "startingTimestamp",
    "startingOffsetsByTimestamp",
    "startingOffsetsByTimestampStrategy",
    "endingOffsets",
    "endingTimestamp",
    "endingOffsetsByTimestamp",
    "failOnDataLoss",
    "maxOffsetsPerTrigger",
    "minOffsetsPerTrigger",
    "maxTriggerDelay",
    "minPartitions",
    "maxRecordsPerPartition",
    "includeHeaders",
    "groupIdPrefix",
    "commitOffsets",
    "kafkaConsumer.pollTimeoutMs",
    "fetchOffset.numRetries",
    "fetchOffset.retryIntervalMs",
    "partition.metadata.cache.ttl.ms",
    "useDeprecatedOffsetFetching",
    "pushFilters",
    "smallBatchesOnDriver",
    *FORMAT_OPTIONS,
)
BATCH_ONLY = ("endingOffsets", "endingTimestamp", "endingOffsetsByTimestamp", "pushFilters")
STRATEGIES = ("assign", "subscribe", "subscribePattern")
DEFAULT_POLL_TIMEOUT_MS = 120_000
DEFAULT_TRIGGER_DELAY_MS = 15 * 60 * 1000
GROUP_ID_PREFIX = "spark-kafka-source"
LONGEST_NAME = 100


@dataclass(frozen=True, slots=True)
class TopicSubscription:
    """The partitions that are read; exactly one of the three fields is set."""

    assigned: tuple[TopicPartition, ...] = ()
    topics: tuple[str, ...] = ()
    pattern: str | None = None


@dataclass(frozen=True, slots=True)
class SourceOptions:
    """The parsed options of a reader; pickled to the executors with each task."""

    subscription: TopicSubscription
    starting: OffsetLimit
    ending: OffsetLimit
    latest_when_no_match: bool
    fail_on_data_loss: bool
    max_offsets_per_trigger: int | None
    min_offsets_per_trigger: int | None
    max_trigger_delay_ms: int
    min_partitions: int | None
    max_records_per_partition: int | None
    include_headers: bool
    push_filters: bool
    read_on_driver: bool
    poll_timeout_ms: int
    offset_retries: int
    offset_retry_ms: int
    metadata_cache_ms: int | None
    """How long the driver caches the list of partitions; None: not at all."""
    client: Mapping[str, str]
    fetch_bytes: int
    formats: FormatOptions
    group: str | None
    """The group that the query's position is committed for; None for none."""
    tracing: bool = False
    """Whether tasks create OpenTelemetry spans."""

    @classmethod
    def parse(cls, given: Mapping[str, str], *, streaming: bool) -> "SourceOptions":
        """Parses the options of a query; ConfigError names the invalid option."""
        texts = OptionTexts(given)
        check_names(texts, SOURCE_OPTIONS)
        if streaming:
            _reject(texts, BATCH_ONLY, "is for batch reads only")
        client, fetch_bytes = consumer_settings(given)
        options = cls(
            subscription=_subscription(texts),
            starting=_starting(texts, streaming),
            ending=_ending(texts),
            latest_when_no_match=_strategy(texts) == "latest",
            fail_on_data_loss=texts.flag("failOnDataLoss", True),
            max_offsets_per_trigger=texts.maybe_number("maxOffsetsPerTrigger", 1),
            min_offsets_per_trigger=texts.maybe_number("minOffsetsPerTrigger", 1),
            max_trigger_delay_ms=texts.duration_ms("maxTriggerDelay", DEFAULT_TRIGGER_DELAY_MS),
            min_partitions=texts.maybe_number("minPartitions", 1),
            max_records_per_partition=texts.maybe_number("maxRecordsPerPartition", 1),
            include_headers=texts.flag("includeHeaders", False),
            push_filters=texts.flag("pushFilters", False),
            read_on_driver=texts.flag("smallBatchesOnDriver", False)
            and not texts.flag("kafka.tracing.enable", False),
            poll_timeout_ms=texts.number("kafkaConsumer.pollTimeoutMs", DEFAULT_POLL_TIMEOUT_MS, 1),
            offset_retries=texts.number("fetchOffset.numRetries", 3),
            offset_retry_ms=texts.number("fetchOffset.retryIntervalMs", 10),
            metadata_cache_ms=_metadata_cache_ms(texts),
            client=client,
            fetch_bytes=fetch_bytes,
            formats=FormatOptions.parse(texts),
            group=_group(texts, _subscription(texts)) if streaming else None,
            tracing=texts.flag("kafka.tracing.enable", False),
        )
        options._check(texts)
        return options

    @property
    def read_committed(self) -> bool:
        """Whether records of open and aborted transactions are left out."""
        return self.client.get("isolation.level") == "read_committed"

    def _check(self, texts: OptionTexts) -> None:
        low, high = self.min_offsets_per_trigger, self.max_offsets_per_trigger
        if low is not None and high is not None and low > high:
            raise ConfigError(f"minOffsetsPerTrigger={low} exceeds maxOffsetsPerTrigger={high}")
        # Accepted for compatibility: offsets are always requested by the admin client.
        texts.flag("useDeprecatedOffsetFetching", False)
        texts.flag("commitOffsets", True)


def _metadata_cache_ms(texts: OptionTexts) -> int | None:
    name = "partition.metadata.cache.ttl.ms"
    found = texts.number(name, -1, -1)
    if found == 0:
        raise ConfigError(f"{name}=0: must be a time, or -1 for none")
    return None if found < 0 else found


def _reject(texts: OptionTexts, names: tuple[str, ...], why: str) -> None:
    for name in names:
        if texts.text(name) is not None:
            raise ConfigError(f"option {name!r} {why}")


def _subscription(texts: OptionTexts) -> TopicSubscription:
    given = [name for name in STRATEGIES if texts.text(name) is not None]
    if len(given) != 1:
        found = f", not {' and '.join(given)}" if given else ""
        raise ConfigError(f"exactly one of {', '.join(STRATEGIES)} is needed{found}")
    name = given[0]
    text = texts.text(name) or ""
    if name == "assign":
        return TopicSubscription(assigned=parse_assignment(name, text))
    if name == "subscribePattern":
        return TopicSubscription(pattern=_pattern(name, text))
    topics = tuple(dict.fromkeys(part.strip() for part in text.split(",") if part.strip()))
    if not topics:
        raise ConfigError(f"{name}={text!r}: names no topic")
    return TopicSubscription(topics=topics)


def _group(texts: OptionTexts, subscription: TopicSubscription) -> str | None:
    """Returns `kafka.group.id`, or a name that stays the same after a restart of the query."""
    if not texts.flag("commitOffsets", True):
        return None
    given = texts.text("kafka.group.id")
    if given is not None:
        return given
    topics = subscription.topics or sorted(
        {topic_partition.topic for topic_partition in subscription.assigned}
    )
    name = ",".join(topics) if topics else subscription.pattern or ""
    if len(name) > LONGEST_NAME:
        name = f"{name[:LONGEST_NAME]}-{zlib.crc32(name.encode()):08x}"
    return f"{texts.text('groupIdPrefix') or GROUP_ID_PREFIX}-{name}"


def _pattern(name: str, text: str) -> str:
    try:
        re.compile(text)
    except re.error as error:
        raise ConfigError(f"{name}={text!r}: is not a regular expression: {error}") from error
    if not text.strip():
        raise ConfigError(f"{name}={text!r}: is empty")
    return text


def _strategy(texts: OptionTexts) -> str:
    return texts.word("startingOffsetsByTimestampStrategy", "error", ("error", "latest"))


def _starting(texts: OptionTexts, streaming: bool) -> OffsetLimit:
    by_time = _by_time(texts, "starting")
    if by_time is not None:
        return by_time
    default: OffsetLimit = LatestOffsets() if streaming else EarliestOffsets()
    limit = _limit(texts, "startingOffsets", default)
    if not streaming and _contains(limit, LATEST):
        raise ConfigError("startingOffsets: a batch read cannot begin at the latest offset")
    return limit


def _ending(texts: OptionTexts) -> OffsetLimit:
    by_time = _by_time(texts, "ending")
    if by_time is not None:
        return by_time
    limit = _limit(texts, "endingOffsets", LatestOffsets())
    if _contains(limit, EARLIEST):
        raise ConfigError("endingOffsets: a read cannot end at the earliest offset")
    return limit


def _by_time(texts: OptionTexts, side: str) -> OffsetLimit | None:
    one = texts.maybe_number(f"{side}Timestamp", 0)
    if one is not None:
        return TimestampOffsets(one)
    name = f"{side}OffsetsByTimestamp"
    text = texts.text(name)
    if text is None:
        return None
    times = parse_offsets(name, text)
    negative = [topic_partition for topic_partition, time in times.items() if time < 0]
    if negative:
        raise ConfigError(f"{name}: the time of {negative[0]} is negative")
    return TimestampOffsets(times)


def _limit(texts: OptionTexts, name: str, default: OffsetLimit) -> OffsetLimit:
    text = texts.text(name)
    if text is None:
        return default
    word = text.strip()
    if word.lower() == "earliest":
        return EarliestOffsets()
    if word.lower() == "latest":
        return LatestOffsets()
    if word.startswith(GROUP_PREFIX) and name == "startingOffsets":
        return CommittedOffsets(word.removeprefix(GROUP_PREFIX))
    offsets = parse_offsets(name, text)
    wrong = [topic_partition for topic_partition, offset in offsets.items() if offset < EARLIEST]
    if wrong:
        raise ConfigError(f"{name}: the offset of {wrong[0]} must be -2, -1, 0 or more")
    return SpecificOffsets(offsets)


def _contains(limit: OffsetLimit, word: int) -> bool:
    if isinstance(limit, SpecificOffsets):
        return word in limit.offsets.values()
    return isinstance(limit, EarliestOffsets if word == EARLIEST else LatestOffsets)
