"""Options of catalog tables: read from the properties, stored in the schema and read again."""

import pytest
from pyspark.sql.types import StructType

from barnabas.model.errors import ConfigError
from barnabas.spark.data_source import (
    declared_options,
    is_table_creation,
    merged,
    sink_part,
    source_part,
    stored_options,
    with_options,
)

SCHEMA = StructType().add("key", "binary").add("value", "binary")
PROPERTIES = {
    "provider": "barnabas",
    "owner": "root",
    "subscribe": "t",
    "option.subscribe": "t",
    "path": "file:/warehouse/t",
}


def test_only_a_creation_has_a_provider():
    assert is_table_creation(PROPERTIES)
    assert not is_table_creation({"subscribe": "t"})


def test_options_are_separated_from_spark_properties():
    assert declared_options(PROPERTIES) == {"subscribe": "t"}
    given = {"provider": "barnabas", "owner": "root", "comment": "c", "subscribe": "t"}
    assert declared_options(given) == {"subscribe": "t"}


def test_options_come_back_from_the_schema():
    kept = with_options(SCHEMA, {"subscribePattern": "a.*"})
    assert [field.dataType for field in kept.fields] == [f.dataType for f in SCHEMA.fields]
    assert stored_options(kept) == {"subscribepattern": "a.*"}
    assert stored_options(StructType.fromJson(kept.jsonValue())) == {"subscribepattern": "a.*"}
    assert stored_options(SCHEMA) == {}


def test_a_query_overrides_the_table():
    assert merged({"startingoffsets": "latest"}, {"startingOffsets": "earliest"}) == {
        "startingoffsets": "earliest"
    }


def test_a_password_is_rejected():
    with pytest.raises(ConfigError, match=r"option 'kafka.sasl.password': .*password"):
        with_options(SCHEMA, {"kafka.sasl.password": "x"})


def test_reading_and_writing_have_their_own_options():
    options = {"subscribe": "t", "topic": "u", "includeHeaders": "true", "kafka.client.id": "c"}
    shared = {"includeHeaders": "true", "kafka.client.id": "c"}
    assert source_part(options) == {"subscribe": "t", **shared}
    assert sink_part(options) == {"topic": "u", **shared}
