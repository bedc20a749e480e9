"""DDL is parsed as Spark parses it."""

import pytest

from barnabas.spark.formats.schemas import parse_ddl


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("id long", "struct<id:bigint>"),
        ("id BIGINT, name STRING COMMENT 'who'", "struct<id:bigint,name:string>"),
        (
            "a decimal, b decimal(12), c dec(12,3)",
            "struct<a:decimal(10,0),b:decimal(12,0),c:decimal(12,3)>",
        ),
        ("t timestamp, n timestamp_ntz, d date", "struct<t:timestamp,n:timestamp_ntz,d:date>"),
        (
            "a array<struct<x: int, y map<string, double>>>",
            "struct<a:array<struct<x:int,y:map<string,double>>>>",
        ),
        ("struct<a: tinyint, b: smallint>", "struct<a:tinyint,b:smallint>"),
        ("`odd name` string, c varchar(10), f real", "struct<odd name:string,c:string,f:float>"),
    ],
)
def test_ddl_becomes_sparks_types(text, kind):
    assert parse_ddl(text).simpleString() == kind


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("", "a column's name is expected"),
        ("id", "type 'nothing' is not one of"),
        ("id lon", "type 'lon' is not one of"),
        ("id long name string", "',' is expected, not 'name'"),
        ("a array<int", "'>' is expected, not 'the end'"),
        ("id long NOT NULL", "'id' cannot be NOT NULL"),
        ("id long; drop", "'; drop' cannot be read"),
    ],
)
def test_invalid_values_are_rejected(text, wrong):
    with pytest.raises(ValueError, match=wrong):
        parse_ddl(text)
