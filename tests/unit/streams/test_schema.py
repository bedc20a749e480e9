"""Schemas from dataclasses and DDL; errors name the cause."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime

import pytest

from barnabas.model.errors import ConfigError
from barnabas.streams.schema import Schema, schema_of_result, sql_type


@dataclass
class Place:
    x: int
    y: float


@dataclass
class Event:
    name: str
    at: datetime
    day: date | None
    place: Place
    tags: list[str]
    counts: dict[str, int]
    raw: bytes
    good: bool = True


def test_a_dataclass_becomes_a_schema():
    schema = Schema.of(Event)
    assert schema.record is Event
    assert schema.ddl == (
        "`name` string, `at` timestamp, `day` date, `place` struct<`x`:bigint,`y`:double>, "
        "`tags` array<string>, `counts` map<string,bigint>, `raw` binary, `good` boolean"
    )


def test_ddl_and_pairs():
    schema = Schema.of("a int, `b c` array<struct<x:int,y:decimal(10,2)>>, d: string")
    assert schema.names == ("a", "b c", "d")
    assert schema.fields[1].type == "array<struct<x:int,y:decimal(10,2)>>"
    assert Schema.of([("a", "int")]).struct == "struct<`a`:int>"
    assert Schema.of(schema) is schema


@pytest.mark.parametrize(
    ("source", "what"),
    [
        ("", "at least one column"),
        ("a", "a name and a type"),
        ("_key string", "is reserved"),
        ("a int, a int", "twice"),
        (int, "not a dataclass"),
    ],
)
def test_an_invalid_schema_is_rejected(source, what):
    with pytest.raises(ConfigError, match=what):
        Schema.of(source)


def test_a_type_without_a_spark_type():
    with pytest.raises(ConfigError, match="has no Spark SQL type"):
        sql_type(int | str)


@dataclass
class Word:
    word: str


def one(line: str) -> Word | None:
    return Word(line) if line else None


def several(line: str) -> Iterator[Word]:
    return (Word(word) for word in line.split())


def test_the_schema_of_a_return_annotation():
    assert schema_of_result(one, None) == Schema.of(Word)
    assert schema_of_result(several, None, many=True) == Schema.of(Word)
    assert schema_of_result(len, "n int") == Schema.of("n int")
    with pytest.raises(ConfigError, match="len has no dataclass as return annotation"):
        schema_of_result(len, None)
