"""The sink's options: defaults, and invalid values, which errors name."""

import pytest

from barnabas.model.errors import ConfigError
from barnabas.spark.sink.options import SINK_OPTIONS, Guarantee, SinkOptions

BASE = {"kafka.bootstrap.servers": "h:1", "topic": "t"}

WRONG = [
    ({"topik": "x"}, "unknown option 'topik'; did you mean 'topic'"),
    ({"topic": " "}, "topic="),
    ({"deliveryGuarantee": "x"}, "deliveryGuarantee="),
    ({"includeHeaders": "x"}, "includeHeaders="),
    ({"queryId": "x"}, "'queryId' and 'batchId' must be set together"),
    ({"queryId": "x", "batchId": "-1"}, "batchId="),
    (
        {"queryId": "x", "batchId": "1", "deliveryGuarantee": "at-least-once"},
        "'queryId' needs deliveryGuarantee=exactly-once",
    ),
    ({"kafka.transactional.id": "x"}, "kafka.transactional.id"),
    ({"kafka.key.serializer": "x"}, "kafka.key.serializer"),
    ({"kafka.enable.idempotence": "false"}, "kafka.enable.idempotence"),
    ({"kafka.compresion.type": "lz4"}, "compresion.type"),
    ({"kafka.acks": "2"}, "acks"),
]
ANY_TEXT = {"timestampColumn"}
"""Options that cannot be malformed; the frame's columns decide."""


def parse(streaming=True, **options):
    given = {name.replace("__", "."): text for name, text in options.items()}
    return SinkOptions.parse({**BASE, **given}, streaming=streaming)


def test_a_stream_is_exactly_once_and_a_batch_at_least_once():
    assert parse().guarantee is Guarantee.EXACTLY_ONCE
    assert parse(streaming=False).guarantee is Guarantee.AT_LEAST_ONCE
    assert parse(deliveryGuarantee="at-least-once").guarantee is Guarantee.AT_LEAST_ONCE
    named = parse(streaming=False, queryId="q", batchId="7")
    assert (named.guarantee, named.query_id, named.batch_id) == (Guarantee.EXACTLY_ONCE, "q", 7)


def test_options_of_spark_and_kafka_settings_are_accepted():
    options = parse(checkpointLocation="/x", queryName="n", kafka__compression__type="lz4")
    assert options.client["compression.type"] == "lz4"
    assert options.topic == "t"


@pytest.mark.parametrize(("options", "named"), WRONG)
def test_invalid_options_are_named(options, named):
    with pytest.raises(ConfigError, match=named):
        SinkOptions.parse({**BASE, **options}, streaming=False)


def test_a_streaming_query_has_its_own_name():
    with pytest.raises(ConfigError, match="'batchId' is for batch writes"):
        parse(batchId="1")
    with pytest.raises(ConfigError, match=r"kafka\.bootstrap\.servers"):
        SinkOptions.parse({"topic": "t"}, streaming=True)


def test_every_option_is_rejected_when_malformed():
    assert {*SINK_OPTIONS} - {name for options, _ in WRONG for name in options} == ANY_TEXT
    assert parse(timestampColumn="when").timestamp_column == "when"
