import json

import pytest

from barnabas.model.errors import ProtocolError
from barnabas.model.records import TimestampType
from barnabas.records.documents import (
    DocumentError,
    decode_bytes,
    encode_bytes,
    headers_of,
    parse_document,
    record_document,
    timestamp_of,
)
from barnabas.records.record import Record


def record(headers=(), timestamp=5, kind=TimestampType.CREATE_TIME):
    return Record("t", 1, 7, timestamp, kind, b"k", b"v", headers)


@pytest.mark.parametrize("data", [None, b"", b"text", "❄".encode(), b"\xff\xfe", bytes(range(256))])
def test_bytes_survive_json(data):
    assert decode_bytes(*encode_bytes(data)) == data


@pytest.mark.parametrize(
    "wrong", [(5, None), ("x", "hex"), ("*", "base64"), ("é", "base64"), ("\ud800", None)]
)
def test_invalid_texts_and_encodings_are_rejected(wrong):
    with pytest.raises(ProtocolError):
        decode_bytes(*wrong)


def test_headers_survive_json():
    headers = (("a", b"1"), ("a", None), ("\udcff", b"\xff"))
    assert headers_of(record_document(record(headers=headers))) == list(headers)


def test_the_names_of_the_fields_are_stable():
    assert list(record_document(record())) == [
        "topic",
        "partition",
        "offset",
        "timestamp",
        "timestamp_iso",
        "timestamp_type",
        "key",
        "key_encoding",
        "value",
        "value_encoding",
        "headers",
    ]


def test_the_type_of_the_timestamp_is_named():
    document = record_document(record(kind=TimestampType.LOG_APPEND_TIME))
    assert document["timestamp_type"] == "LogAppendTime"


@pytest.mark.parametrize("timestamp", [-1, 10**15, 2**63 - 1])
def test_a_timestamp_that_no_calendar_has_is_a_number_only(timestamp):
    document = json.loads(json.dumps(record_document(record(timestamp=timestamp))))
    assert (document["timestamp"], document["timestamp_iso"]) == (timestamp, None)


@pytest.mark.parametrize("line", [b"x", b"5", b"[1]", b"[" * 100_000, b"\xff"])
def test_a_line_that_is_not_a_json_object_is_rejected(line):
    with pytest.raises(DocumentError, match=r"is not (JSON|a JSON object)"):
        parse_document(line)


@pytest.mark.parametrize(
    ("parse", "document"),
    [
        (headers_of, {"headers": 5}),
        (headers_of, {"headers": [1]}),
        (headers_of, {"headers": [{"value": "x"}]}),
        (headers_of, {"headers": [{"key": 5}]}),
        (timestamp_of, {"timestamp": "2024-05-01"}),
        (timestamp_of, {"timestamp": True}),
        (timestamp_of, {"timestamp": 1.5}),
    ],
)
def test_a_part_of_the_wrong_type_is_rejected(parse, document):
    with pytest.raises(DocumentError):
        parse(document)


def test_a_negative_timestamp_is_none():
    assert timestamp_of({"timestamp": -1}) is timestamp_of({}) is None
    assert timestamp_of({"timestamp": 5}) == 5
