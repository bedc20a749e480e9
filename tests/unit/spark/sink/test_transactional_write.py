"""Schemas that the sink accepts and rejects."""

import pytest
from pyspark.sql.types import StructType

from barnabas.model.errors import ConfigError
from barnabas.spark.data_source import BarnabasDataSource
from barnabas.spark.sink.options import check_sink_schema

BASE = {"kafka.bootstrap.servers": "h:1", "topic": "t"}


def schema(text):
    fields = [item.split(" ", 1) for item in text.split(", ")]
    made = StructType()
    for name, kind in fields:
        made = made.add(name, kind)
    return made


@pytest.mark.parametrize(
    "columns",
    [
        "value binary",
        "key string, value string, partition integer, other double",
        "value string, topic string, when timestamp",
    ],
)
def test_valid_sink_columns(columns):
    check_sink_schema(schema(columns), "t", "when" if "when" in columns else None)


@pytest.mark.parametrize(
    ("columns", "topic", "time", "named"),
    [
        ("key binary", "t", None, "a column 'value'; there are: key"),
        ("value binary", None, None, "option 'topic' or a column 'topic'"),
        ("value integer", "t", None, "'value' must be binary or string, not int"),
        ("value binary, key long", "t", None, "'key' must be binary or string"),
        ("value binary, topic binary", None, None, "'topic' must be string"),
        ("value binary, partition long", "t", None, "'partition' must be int"),
        ("value binary, headers string", "t", None, "'headers' must be array"),
        ("value binary, when string", "t", "when", "timestampColumn='when'"),
        ("value binary", "t", "when", "timestampColumn='when'"),
    ],
)
def test_invalid_sink_columns(columns, topic, time, named):
    with pytest.raises(ConfigError, match=named):
        check_sink_schema(schema(columns), topic, time)


def test_a_topic_is_not_overwritten():
    source = BarnabasDataSource(BASE)
    assert source.writer(schema("value binary"), overwrite=False)
    with pytest.raises(ConfigError, match="append"):
        source.writer(schema("value binary"), overwrite=True)


def test_the_complete_mode_has_a_writer():
    assert BarnabasDataSource(BASE).streamWriter(schema("value binary"), overwrite=True)
