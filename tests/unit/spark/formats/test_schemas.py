"""Every form of a schema text gives the same columns."""

import json

import pytest
from pyspark.sql.types import LongType, StructField, StructType

from barnabas.spark.formats import avro
from barnabas.spark.formats.schemas import as_nullable, parse_ddl, parse_schema


def test_a_json_schema_becomes_a_spark_schema():
    schema = {
        "type": "object",
        "properties": {
            "id": {"type": "integer"},
            "score": {"type": ["null", "number"]},
            "at": {"type": "string", "format": "date-time"},
            "day": {"type": "string", "format": "date"},
            "tags": {"type": "array", "items": {"type": "string"}},
            "more": {"type": "object", "additionalProperties": {"type": "boolean"}},
            "in": {"type": "object", "properties": {"x": {"type": "integer"}}},
        },
    }
    assert parse_schema("json", json.dumps(schema)).simpleString() == (
        "struct<id:bigint,score:double,at:timestamp,day:date,tags:array<string>,"
        "more:map<string,boolean>,in:struct<x:bigint>>"
    )
    with pytest.raises(ValueError, match="has no Spark type"):
        parse_schema("json", '{"type": ["string", "integer"]}')


def test_sparks_own_json_and_nulls():
    kind = StructType([StructField("id", LongType(), nullable=False)])
    found = parse_schema("json", kind.json())
    assert found == as_nullable(kind)
    assert found.fields[0].nullable


def test_avro_schema_types():
    schema = {
        "type": "record",
        "name": "R",
        "fields": [
            {"name": "id", "type": "long"},
            {
                "name": "d",
                "type": {"type": "bytes", "logicalType": "decimal", "precision": 9, "scale": 2},
            },
            {"name": "t", "type": ["null", {"type": "long", "logicalType": "timestamp-millis"}]},
            {"name": "u", "type": {"type": "string", "logicalType": "uuid"}},
            {"name": "e", "type": {"type": "enum", "name": "E", "symbols": ["A"]}},
            {"name": "again", "type": "E"},
            {"name": "f", "type": {"type": "fixed", "name": "F", "size": 4}},
            {"name": "m", "type": {"type": "map", "values": {"type": "array", "items": "int"}}},
        ],
    }
    assert parse_schema("avro", json.dumps(schema)).simpleString() == (
        "struct<id:bigint,d:decimal(9,2),t:timestamp,u:string,e:string,again:string,f:binary,"
        "m:map<string,array<int>>>"
    )


def test_avro_types_without_a_spark_type():
    with pytest.raises(ValueError, match="more than one type"):
        avro.spark_type(["null", "int", "string"])
    itself = {"type": "record", "name": "L", "fields": [{"name": "next", "type": ["null", "L"]}]}
    with pytest.raises(ValueError, match="refers to itself"):
        avro.spark_type(itself)


def test_spark_types_as_avro_and_back():
    kind = parse_ddl(
        "i int, l long, s string, b binary, d date, t timestamp, n timestamp_ntz, c decimal(9,2), "
        "a array<double>, m map<string,struct<x:boolean>>"
    )
    assert avro.spark_type(avro.avro_schema(kind)) == kind
