"""Schemas from dataclasses and DDL; what cannot be one is named."""

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


def test_a_dataclass():
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
        ("_key string", "taken by the row"),
        ("a int, a int", "twice"),
        (int, "no dataclass"),
    ],
)
def test_what_is_no_schema(source, what):
    with pytest.raises(ConfigError, match=what):
        Schema.of(source)


def test_a_type_spark_has_not():
    with pytest.raises(ConfigError, match="no type in Spark"):
        sql_type(int | str)


@dataclass
class Word:
    word: str


def one(line: str) -> Word | None:
    return Word(line) if line else None


def several(line: str) -> Iterator[Word]:
    return (Word(word) for word in line.split())


def test_a_function_says_what_it_returns():
    assert schema_of_result(one, None) == Schema.of(Word)
    assert schema_of_result(several, None, many=True) == Schema.of(Word)
    assert schema_of_result(len, "n int") == Schema.of("n int")
    with pytest.raises(ConfigError, match="len does not say which dataclass it returns"):
        schema_of_result(len, None)
