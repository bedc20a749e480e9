"""Every option: its default, its forms, and invalid values, which errors name."""

import pickle

import pytest

from barnabas.model.errors import ConfigError
from barnabas.model.ids import TopicPartition
from barnabas.spark.formats.decoding import FORMAT_OPTIONS
from barnabas.spark.source.offsets import (
    CommittedOffsets,
    EarliestOffsets,
    LatestOffsets,
    SpecificOffsets,
    TimestampOffsets,
)
from barnabas.spark.source.options import SOURCE_OPTIONS, SourceOptions, TopicSubscription

BASE = {"kafka.bootstrap.servers": "h:1", "subscribe": "a"}
A0, A1 = TopicPartition("a", 0), TopicPartition("a", 1)

WRONG = [
    ({"subscibe": "b"}, "unknown option 'subscibe'; did you mean 'subscribe'"),
    ({"subscribePattern": "b"}, "exactly one of .* not subscribe and subscribePattern"),
    ({"subscribe": " , "}, "subscribe="),
    ({"startingOffsets": "first"}, "startingOffsets="),
    ({"startingOffsets": "latest"}, "startingOffsets: a batch read"),
    ({"startingOffsets": '{"a":{"0":-1}}'}, "startingOffsets: a batch read"),
    ({"startingOffsets": '{"a":{"0":-3}}'}, "startingOffsets: the offset of a-0"),
    ({"endingOffsets": "earliest"}, "endingOffsets: "),
    ({"endingOffsets": '{"a":{"0":-2}}'}, "endingOffsets: "),
    ({"endingOffsets": "group:x"}, "endingOffsets="),
    ({"startingTimestamp": "yesterday"}, "startingTimestamp="),
    ({"startingTimestamp": "-5"}, "startingTimestamp="),
    ({"startingOffsetsByTimestamp": '{"a":{"0":-5}}'}, "startingOffsetsByTimestamp: .*a-0"),
    ({"endingOffsetsByTimestamp": "x"}, "endingOffsetsByTimestamp="),
    ({"endingTimestamp": "x"}, "endingTimestamp="),
    ({"startingOffsetsByTimestampStrategy": "x"}, "startingOffsetsByTimestampStrategy="),
    ({"failOnDataLoss": "no"}, "failOnDataLoss="),
    ({"includeHeaders": "1"}, "includeHeaders="),
    ({"maxOffsetsPerTrigger": "0"}, "maxOffsetsPerTrigger="),
    ({"maxOffsetsPerTrigger": "1.5"}, "maxOffsetsPerTrigger="),
    ({"minOffsetsPerTrigger": "9", "maxOffsetsPerTrigger": "8"}, "minOffsetsPerTrigger=9"),
    ({"maxTriggerDelay": "soon"}, "maxTriggerDelay="),
    ({"minPartitions": "-1"}, "minPartitions="),
    ({"maxRecordsPerPartition": "x"}, "maxRecordsPerPartition="),
    ({"kafkaConsumer.pollTimeoutMs": "0"}, "kafkaConsumer.pollTimeoutMs="),
    ({"fetchOffset.numRetries": "-1"}, "fetchOffset.numRetries="),
    ({"fetchOffset.retryIntervalMs": "x"}, "fetchOffset.retryIntervalMs="),
    ({"partition.metadata.cache.ttl.ms": "-2"}, "partition.metadata.cache.ttl.ms="),
    ({"partition.metadata.cache.ttl.ms": "0"}, "partition.metadata.cache.ttl.ms="),
    ({"useDeprecatedOffsetFetching": "maybe"}, "useDeprecatedOffsetFetching="),
    ({"commitOffsets": "x"}, "commitOffsets="),
    ({"smallBatchesOnDriver": "x"}, "smallBatchesOnDriver="),
    ({"pushFilters": "x"}, "pushFilters="),
    ({"value.format": "xml"}, "value.format="),
    ({"kafka.auto.offset.reset": "earliest"}, "kafka.auto.offset.reset.*startingOffsets"),
    ({"kafka.enable.auto.commit": "true"}, "kafka.enable.auto.commit"),
    ({"kafka.key.deserializer": "x"}, "kafka.key.deserializer"),
    ({"kafka.value.deserializer": "x"}, "kafka.value.deserializer"),
    ({"kafka.interceptor.classes": "x"}, "kafka.interceptor.classes"),
    ({"kafka.fetch.min.byte": "1"}, "fetch.min.byte"),
    ({"kafka.isolation.level": "serializable"}, "isolation.level"),
]
ANY_TEXT = {"groupIdPrefix"}
"""Options that cannot be malformed."""


def parse(streaming=False, **options):
    given = {name.replace("__", "."): text for name, text in options.items()}
    return SourceOptions.parse({**BASE, **given}, streaming=streaming)


def test_a_batch_reads_everything_and_a_stream_only_new_records():
    batch, stream = parse(), parse(streaming=True)
    assert (batch.starting, batch.ending) == (EarliestOffsets(), LatestOffsets())
    assert stream.starting == LatestOffsets()
    assert stream.fail_on_data_loss
    assert not stream.include_headers
    assert not stream.read_committed
    assert not stream.latest_when_no_match
    assert not stream.read_on_driver
    assert (stream.max_offsets_per_trigger, stream.min_offsets_per_trigger) == (None, None)
    assert stream.max_trigger_delay_ms == 15 * 60 * 1000
    assert (stream.min_partitions, stream.max_records_per_partition) == (None, None)
    assert (stream.poll_timeout_ms, stream.offset_retries, stream.offset_retry_ms) == (
        120_000,
        3,
        10,
    )
    assert stream.fetch_bytes == 16 * 1024 * 1024


@pytest.mark.parametrize("change", [str.upper, str.lower])
def test_names_are_case_insensitive(change):
    given = {change(name): text for name, text in {**BASE, "minPartitions": "3"}.items()}
    assert SourceOptions.parse(given, streaming=False).min_partitions == 3


def test_each_form_of_subscription_is_read():
    servers = {"kafka.bootstrap.servers": "h:1"}

    def of(**given):
        return SourceOptions.parse({**servers, **given}, streaming=False).subscription

    assert of(subscribe="a, b,a") == TopicSubscription(topics=("a", "b"))
    assert of(subscribePattern="a.*") == TopicSubscription(pattern="a.*")
    assert of(assign='{"a":[1,0]}') == TopicSubscription(assigned=(A0, A1))


def test_the_group_that_shows_a_query():
    assert parse().group is None
    assert parse(streaming=True).group == "spark-kafka-source-a"
    assert parse(streaming=True, groupIdPrefix="p").group == "p-a"
    assert parse(streaming=True, kafka__group__id="g").group == "g"
    assert parse(streaming=True, commitOffsets="false").group is None
    many = parse(streaming=True, subscribe=",".join(f"topic-{n}" for n in range(50))).group
    assert len(many) < 150


def test_each_form_of_position_is_read():
    assert parse(startingOffsets="EARLIEST").starting == EarliestOffsets()
    assert parse(streaming=True, startingOffsets=" latest ").starting == LatestOffsets()
    given = parse(startingOffsets='{"a":{"0":23,"1":-2}}').starting
    assert given == SpecificOffsets({A0: 23, A1: -2})
    assert parse(endingOffsets='{"a":{"0":-1}}').ending == SpecificOffsets({A0: -1})
    assert parse(streaming=True, startingOffsets="group:g1").starting == CommittedOffsets("g1")


def test_timestamps_take_precedence_over_offsets():
    both = parse(startingOffsets="earliest", startingOffsetsByTimestamp='{"a":{"0":5}}')
    assert both.starting == TimestampOffsets({A0: 5})
    all_three = parse(startingTimestamp="9", startingOffsetsByTimestamp='{"a":{"0":5}}')
    assert all_three.starting == TimestampOffsets(9)
    assert parse(endingTimestamp="7", endingOffsets="latest").ending == TimestampOffsets(7)
    assert parse(endingOffsetsByTimestamp='{"a":{"0":5}}').ending == TimestampOffsets({A0: 5})
    assert parse(startingOffsetsByTimestampStrategy="latest").latest_when_no_match


def test_numbers_flags_and_times():
    options = parse(
        streaming=True,
        maxOffsetsPerTrigger="100",
        minOffsetsPerTrigger="10",
        maxTriggerDelay="2m",
        minPartitions="4",
        maxRecordsPerPartition="1000",
        includeHeaders="TRUE",
        failOnDataLoss="false",
        groupIdPrefix="p",
        kafkaConsumer__pollTimeoutMs="500",
        fetchOffset__numRetries="7",
        fetchOffset__retryIntervalMs="20",
    )
    assert (options.max_offsets_per_trigger, options.min_offsets_per_trigger) == (100, 10)
    assert options.max_trigger_delay_ms == 120_000
    assert (options.min_partitions, options.max_records_per_partition) == (4, 1000)
    assert options.include_headers
    assert not options.fail_on_data_loss
    assert (options.poll_timeout_ms, options.offset_retries, options.offset_retry_ms) == (
        500,
        7,
        20,
    )


def test_kafka_settings_pass_through():
    options = parse(
        kafka__isolation__level="read_committed",
        kafka__max__partition__fetch__bytes="4096",
        kafka__group__id="fixed",
        kafka__session__timeout__ms="10000",
    )
    assert options.read_committed
    assert options.fetch_bytes == 4096
    assert options.client == {"bootstrap.servers": "h:1", "isolation.level": "read_committed"}


@pytest.mark.parametrize(("options", "named"), WRONG)
def test_invalid_options_are_named(options, named):
    with pytest.raises(ConfigError, match=named):
        SourceOptions.parse({**BASE, **options}, streaming=False)


def test_needed_and_batch_only():
    with pytest.raises(ConfigError, match=r"kafka\.bootstrap\.servers"):
        SourceOptions.parse({"subscribe": "a"}, streaming=False)
    with pytest.raises(ConfigError, match="exactly one of"):
        SourceOptions.parse({"kafka.bootstrap.servers": "h:1"}, streaming=False)
    with pytest.raises(ConfigError, match="assign="):
        SourceOptions.parse({"kafka.bootstrap.servers": "h:1", "assign": "a"}, streaming=True)
    with pytest.raises(ConfigError, match="subscribePattern="):
        SourceOptions.parse(
            {"kafka.bootstrap.servers": "h:1", "subscribePattern": "("}, streaming=True
        )
    for name in ("endingOffsets", "endingTimestamp", "endingOffsetsByTimestamp"):
        with pytest.raises(ConfigError, match=f"'{name}' is for batch"):
            SourceOptions.parse({**BASE, name: "latest"}, streaming=True)


def test_every_option_has_one_spelling_and_is_rejected_when_malformed():
    assert len({name.lower() for name in SOURCE_OPTIONS}) == len(SOURCE_OPTIONS)
    refused = {name for options, _ in WRONG for name in options}
    elsewhere = {"assign", *FORMAT_OPTIONS}
    assert {*SOURCE_OPTIONS} - refused - elsewhere == ANY_TEXT


def test_streaming_options_are_accepted_in_a_batch():
    options = parse(minOffsetsPerTrigger="1", maxOffsetsPerTrigger="2", maxTriggerDelay="1s")
    assert options.ending == LatestOffsets()


def test_options_are_pickled_to_the_tasks():
    options = parse(streaming=True, includeHeaders="true", kafka__isolation__level="read_committed")
    assert pickle.loads(pickle.dumps(options)) == options
