import json

import fastavro
import pytest

from barnabas.spark.formats.avro import avro_row
from barnabas.streams.nodes import Project
from barnabas.streams.sql.engine.insert import records
from barnabas.streams.sql.language.errors import SqlError, UnsupportedError
from barnabas.streams.sql.language.parser import parse_statement
from barnabas.streams.sql.properties import declared
from barnabas.streams.sql.relations import relation_of
from barnabas.streams.sql.translation.records import source

GIVEN = {
    "type": "record",
    "name": "View",
    "fields": [
        {"name": "pageId", "type": "string"},
        {"name": "ms", "type": "int"},
        {"name": "at", "type": ["null", {"type": "long", "logicalType": "timestamp-millis"}]},
    ],
}


def relation(columns="", **properties):
    clauses = ", ".join(f"{name}='{value}'" for name, value in properties.items())
    return declared(parse_statement(f"CREATE STREAM s {columns} WITH ({clauses})"))


def given_relation(columns="", value_format="avro"):
    return relation(columns, value_format=value_format, avro_schema=json.dumps(GIVEN))


def inserted(target, text):
    (record,) = records(parse_statement(f"INSERT INTO s {text}"), target)
    return record


def test_the_schema_of_columns():
    target = relation("(k VARCHAR KEY, a INT, t DATE, d DECIMAL(9, 2))", value_format="avro")
    node = source(target)
    assert node.parent.topic.value_format == "avro"
    schema = json.loads(dict(node.parent.topic.options)["value.schema"])
    assert fastavro.parse_schema(schema)
    record = inserted(target, "VALUES ('u', -1, '2026-02-03', 4.5)")
    assert record.key == b"u"
    row = avro_row(schema)(record.value)
    assert (row["a"], row["t"].isoformat(), str(row["d"])) == (-1, "2026-02-03", "4.50")
    assert relation_of(target.as_document()) == target


def test_a_schema_that_is_given_has_the_columns(tmp_path):
    target = given_relation("(k VARCHAR KEY)")
    assert [(c.name, c.type) for c in target.columns] == [
        ("k", "STRING"),
        ("pageId", "STRING"),
        ("ms", "INT"),
        ("at", "TIMESTAMP"),
    ]
    assert relation_of(target.as_document()) == target
    file = tmp_path / "view.avsc"
    file.write_text(json.dumps(GIVEN, indent=2))
    assert relation("(k VARCHAR KEY)", value_format="AVRO", avro_schema=str(file)) == target
    record = inserted(target, "VALUES ('u', 'p', 7, '2026-01-01 00:00:01')")
    assert avro_row(GIVEN)(record.value)["ms"] == 7


def test_columns_may_have_other_types_and_spellings_than_the_schema():
    target = given_relation("(pageid VARCHAR, ms BIGINT)")
    node = source(target)
    assert isinstance(node, Project)
    assert dict(node.columns) == {
        "pageid": "cast(`pageId` AS STRING)",
        "ms": "cast(`ms` AS BIGINT)",
    }
    record = inserted(target, "VALUES ('p', 7)")
    assert avro_row(GIVEN)(record.value) == {"pageId": "p", "ms": 7, "at": None}


def test_values_with_a_schema_id_are_read_only():
    target = given_relation(value_format="confluent_avro")
    assert source(target).parent.parent.topic.value_format == "confluent-avro"
    with pytest.raises(UnsupportedError, match="value_format='AVRO' writes"):
        inserted(target, "VALUES ('p', 7, NULL)")


@pytest.mark.parametrize(
    ("columns", "properties", "reason"),
    [
        ("(a INT)", {"format": "avro"}, "keys are KAFKA, DELIMITED or JSON"),
        ("(a INT KEY, b INT)", {"key_format": "avro"}, "keys are KAFKA, DELIMITED or JSON"),
        ("(`a b` INT)", {"value_format": "avro"}, "cannot be the name of an Avro field"),
        ("(a INT)", {"avro_schema": "{}"}, "avro_schema needs value_format AVRO"),
        ("(a INT)", {"value_format": "avro", "avro_schema": "{}"}, "avro_schema cannot be read"),
        ("(a INT)", {"value_format": "avro", "avro_schema": "no.avsc"}, "no.avsc: No such file"),
        ("", {"value_format": "avro"}, "the columns are missing"),
    ],
)
def test_columns_that_avro_cannot_have_are_rejected(columns, properties, reason):
    with pytest.raises(SqlError, match=reason):
        relation(columns, **properties)


def test_a_column_that_the_schema_lacks():
    with pytest.raises(SqlError, match="no field 'x'"):
        given_relation("(x INT)")


def test_a_row_that_does_not_fit():
    with pytest.raises(SqlError, match="does not fit the Avro schema"):
        inserted(given_relation(), "VALUES (NULL, 7, NULL)")
