"""Decoding JSON in whole batches gives the same rows as decoding row by row, for any values."""

import json

import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from barnabas.spark.formats.decoders import decoder_for
from barnabas.spark.formats.schemas import parse_ddl

KIND = parse_ddl(
    "l long, d double, s string, b boolean, t timestamp, a array<int>, o struct<x:int>"
)
DECODER = decoder_for("json", KIND)

anything = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**70), 2**70),
    st.floats(),
    st.text(max_size=5),
    st.sampled_from(["2024-01-01", "2024-01-01T00:00:00Z", "2024-01-01 10:00", "1e5", "}\n{"]),
    st.lists(st.one_of(st.none(), st.integers(-(2**33), 2**33)), max_size=3),
    st.dictionaries(st.sampled_from("xy"), st.integers(-5, 2**32), max_size=2),
)
objects = st.dictionaries(st.sampled_from("ldsbtao?"), anything, max_size=4)
broken = st.sampled_from(
    [
        b"",
        b" ",
        b"{",
        b"}",
        b"{}{}",
        b"null",
        b"[]",
        b"1",
        b'"',
        b'{"l":1}}',
        b'1}\n{"v":2',
        b'{"l":01}',
        b'{"l":1,}',
        b'{"l":NaN}',
        b'{"d":Infinity}',
        b'{"d":-NaN}',
        b'{"s":"\x01"}',
        b'{"s":"\\ud800"}',
        b'{"l":1,"l":2}',
        b'\xef\xbb\xbf{"l":1}',
        b"\xff",
        b'{"l":1}//',
        b"{}\n",
        b'{"l":-0}',
        b'{"d":1e400}',
        b'{"d":1.}',
        b"{'l':1}",
        b'{"l":1e2}',
        b'{"l":1.0}',
        b'{"o":[]}',
    ]
)
values = st.one_of(st.none(), objects.map(lambda value: json.dumps(value).encode()), broken)


@settings(deadline=None, max_examples=200)
@given(st.lists(values, min_size=1, max_size=6))
def test_whole_batches_and_rows_agree(rows):
    array = pa.array(rows, pa.binary())
    whole = DECODER.batch(array)
    one_by_one, errors = DECODER._rows(array)
    if whole is not None:
        assert not errors
        assert whole.to_pylist() == one_by_one.to_pylist()
