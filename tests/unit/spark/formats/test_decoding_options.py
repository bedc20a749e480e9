"""Options of formats, valid and invalid."""

import pytest

from barnabas.model.errors import ConfigError
from barnabas.spark.formats.decoding import FormatOptions
from barnabas.spark.options import OptionTexts


def parse(**options):
    return FormatOptions.parse(
        OptionTexts({name.replace("_", "."): text for name, text in options.items()})
    )


def test_without_options_nothing_is_decoded():
    found = parse()
    assert (found.key.format, found.value.format, found.on_error) == ("raw", "raw", "fail")
    assert not found.decodes


def test_inferred_or_given():
    assert parse(value_format="JSON").value.inferred
    assert parse(value_format="json", value_schema="infer").value.inferred
    given = parse(value_format="json", value_schema="id long", key_format="string")
    assert not given.value.inferred
    assert given.decodes
    assert given.value.column_type().simpleString() == "struct<id:bigint>"


@pytest.mark.parametrize(
    ("options", "wrong"),
    [
        ({"value_format": "xml"}, "value.format='xml': must be one of: raw, string, json"),
        ({"value_schema": "id long"}, "value.schema: value.format=raw has no schema"),
        ({"key_format": "csv"}, "key.format=csv needs key.schema"),
        ({"value_format": "avro", "value_schema": "{"}, "value.schema='{': is not JSON"),
        ({"value_format": "avro", "value_schema": '{"type":"record"}'}, "value.schema=.*"),
        ({"value_format": "json", "value_schema": "id"}, "value.schema='id': type 'nothing'"),
        ({"on_decode_error": "skip"}, "on.decode.error='skip': must be one of: fail, null, dlq"),
        ({"dlq_topic": "d"}, "dlq.topic='d': needs on.decode.error=dlq"),
        ({"on_decode_error": "dlq", "dlq_topic": " "}, "dlq.topic=' '"),
        ({"value_schema_sample": "0"}, "value.schema.sample='0': must be at least 1"),
    ],
)
def test_invalid_options_are_named(options, wrong):
    with pytest.raises(ConfigError, match=wrong):
        parse(**options)
