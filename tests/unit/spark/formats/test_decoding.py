"""Arrays of bytes to arrays of values: whole batches and row by row agree."""

import datetime as dt
import io
import json
import uuid
from decimal import Decimal

import fastavro
import pyarrow as pa
import pytest

from barnabas.model.errors import ConfigError
from barnabas.spark.formats.decoders import CHUNK, decoder_for
from barnabas.spark.formats.decoding import ColumnFormat
from barnabas.spark.formats.schemas import parse_schema


def decode(name, schema, *values):
    column = ColumnFormat(name, schema)
    return column.decoder(column.column_type()).decode(pa.array(values, pa.binary()))


def test_raw_and_string():
    assert decode("raw", None, b"\xff", None).values.to_pylist() == [b"\xff", None]
    found = decode("string", None, "ü".encode(), b"\xff", None, b"")
    assert found.values.to_pylist() == ["ü", None, None, ""]
    assert found.errors == {1: "is not UTF-8 text: byte 0 is 0xff"}


def test_json_values_are_converted_to_every_type():
    schema = (
        "b boolean, i int, l long, f double, s string, c decimal(9,2), d date, t timestamp, "
        "n timestamp_ntz, x binary, a array<int>, m map<string,int>, o struct<y:int>"
    )
    value = {
        "b": True,
        "i": 1,
        "l": 2**40,
        "f": 1,
        "s": {"k": 1},
        "c": 1.1,
        "d": "2024-02-29",
        "t": "2024-02-29T12:00:00+02:00",
        "n": "2024-02-29T12:00:00",
        "x": "AAE=",
        "a": [1, None],
        "m": {"k": 1},
        "o": {"y": 2, "z": 3},
        "unknown": 1,
    }
    (found,) = decode("json", schema, json.dumps(value).encode()).values.to_pylist()
    assert found["s"] == '{"k":1}'
    assert found["c"] == Decimal("1.10")
    assert found["d"] == dt.date(2024, 2, 29)
    assert found["t"] == dt.datetime(2024, 2, 29, 10, tzinfo=dt.UTC)
    assert found["n"] == dt.datetime(2024, 2, 29, 12)  # noqa: DTZ001 - it has no zone
    assert (found["x"], found["a"]) == (b"\0\1", [1, None])
    assert (found["m"], found["o"]) == ([("k", 1)], {"y": 2})


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "is not JSON: Expecting value"),
        (b"{", "is not JSON: Expecting property name"),
        (b"{}{}", "is not JSON: Extra data"),
        (b'1}\n{"v":2', "is not JSON: Extra data"),
        (b"[1]", r"\[1\] is not an object"),
        (b'{"l": 1.5}', "field 'l': 1.5 is not of type bigint"),
        (b'{"l": 9223372036854775808}', "field 'l': 9223372036854775808 is not of type bigint"),
        (b'{"l": true}', "field 'l': true is not of type bigint"),
        (b'{"t": "yesterday"}', "field 't': \"yesterday\" is not a timestamp"),
        (b'{"o": {"x": "a"}}', "field 'o': field 'x': \"a\" is not a number"),
        (b'{"s": "\xff"}', "is not UTF-8 text"),
        (b'{"s": "\\ud800"}', "surrogates not allowed"),
        (b'{"o": {"x": NaN}}', "field 'x': NaN is not a number"),
        (b'{"o": {"x": 1e400}}', "field 'x': Infinity is not a number"),
    ],
)
def test_an_invalid_json_value_has_a_reason(data, reason):
    schema = "l long, s string, t timestamp, o struct<x:double>"
    found = decode("json", schema, b'{"l": 1}', data, b'{"l": 2}')
    assert [row and row["l"] for row in found.values.to_pylist()] == [1, None, 2]
    with pytest.raises(AssertionError, match=reason):
        raise AssertionError(found.errors[1])


def test_whole_batches_and_rows_agree():
    kind = parse_schema("json", "l long, s string, t timestamp, d date, o struct<x:array<double>>")
    decoder = decoder_for("json", kind)
    values = [
        b'{"l": 1, "s": "a\\u00fc", "t": "2024-01-01T00:00:00Z", "d": "2024-01-01"}',
        b'{"l": null, "t": "2024-06-01T00:00:00.123456+05:00", "o": {"x": [1, 2.5, null]}}',
        b'  {"o": {}}\n',
        b"null",
        b"{}",
        None,
    ]
    array = pa.array(values * 3, pa.binary())
    whole = decoder.batch(array)
    rows, errors = decoder._rows(array)
    assert not errors
    assert whole.equals(rows)
    assert decoder.decode(array.slice(2, 7)).values.equals(rows.slice(2, 7))
    without_zone = pa.array([b'{"t": "2024-01-01T00:00:00"}'], pa.binary())
    assert decoder.batch(without_zone).equals(decoder._rows(without_zone)[0])


def test_an_invalid_row_affects_only_its_chunk():
    values = [b'{"l": %d}' % n for n in range(CHUNK * 3)]
    values[CHUNK + 5] = b"bad"
    found = decode("json", "l long", *values)
    assert list(found.errors) == [CHUNK + 5]
    assert [row["l"] for row in found.values.to_pylist() if row] == [
        n for n in range(CHUNK * 3) if n != CHUNK + 5
    ]


def test_csv_rows_are_decoded_and_invalid_ones_have_a_reason():
    schema = "i int, s string, c decimal(5,1), b boolean, d date, f double, a array<int>"
    found = decode(
        "csv",
        schema,
        b'1,"x, ""y""",2.5,TRUE,2024-01-01,1e3,"[1,2]"',
        b",,,,,,",
        b"1,2",
        b"x,,,,,,",
        b"1,a,,,,,\n2,b,,,,,",
        None,
    )
    first, second, *others = found.values.to_pylist()
    assert list(first.values()) == [
        1,
        'x, "y"',
        Decimal("2.5"),
        True,
        dt.date(2024, 1, 1),
        1000.0,
        [1, 2],
    ]
    assert set(second.values()) == {None}
    assert others == [None] * 4
    assert found.errors == {
        2: "has 2 fields, not 7",
        3: "field 'i': \"x\" is not a number",
        4: "has 2 lines instead of one",
    }


def avro(schema, value):
    stream = io.BytesIO()
    fastavro.schemaless_writer(stream, fastavro.parse_schema(schema), value)
    return stream.getvalue()


def test_avro_values_are_decoded_and_invalid_ones_have_a_reason():
    schema = {
        "type": "record",
        "name": "R",
        "fields": [
            {"name": "u", "type": {"type": "string", "logicalType": "uuid"}},
            {"name": "t", "type": ["null", {"type": "long", "logicalType": "timestamp-micros"}]},
            {"name": "m", "type": {"type": "map", "values": "int"}},
        ],
    }
    value = {"u": uuid.UUID(int=5), "t": dt.datetime(2024, 1, 1, tzinfo=dt.UTC), "m": {"k": 1}}
    data = avro(schema, value)
    found = decode("avro", json.dumps(schema), data, b"", data + b"x", None)
    assert found.values.to_pylist()[0] == {
        "u": str(value["u"]),
        "t": value["t"],
        "m": [("k", 1)],
    }
    assert set(found.errors) == {1, 2}
    framed = decode("confluent-avro", json.dumps(schema), b"\0\0\0\0\7" + data, data)
    assert framed.values.to_pylist()[0]["u"] == str(value["u"])
    assert "does not begin with a zero byte" in framed.errors[1]


def test_types_a_format_does_not_give():
    with pytest.raises(ConfigError, match="format string gives string, not binary"):
        decoder_for("string", parse_schema("json", "x binary").fields[0].dataType)
    with pytest.raises(ConfigError, match="format avro needs the Avro schema"):
        decoder_for("avro", parse_schema("json", "x binary"))
