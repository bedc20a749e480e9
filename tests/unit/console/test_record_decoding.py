"""Decoding of keys and values: formats, schema registry, text that is safe to show."""

import base64
import io
import json
from dataclasses import replace

import fastavro
import httpx
import pytest

from barnabas.console.models.records import BatchBody
from barnabas.console.services.records.bodies import RecordPreviews
from barnabas.console.services.records.decoding import (
    MAX_PARSED_BYTES,
    RecordDecoder,
    visible,
)
from barnabas.console.services.records.log_entries import LogEntry
from barnabas.console.services.records.schema_registry import SchemaRegistry

SCHEMA = {"type": "record", "name": "R", "fields": [{"name": "id", "type": "long"}]}


def entry(value, topic="t"):
    batch = BatchBody(
        base_offset=0,
        last_offset=0,
        records=1,
        size_bytes=100,
        magic=2,
        codec="none",
        leader_epoch=0,
        producer_id=-1,
        producer_epoch=-1,
        base_sequence=-1,
        transactional=False,
        max_timestamp=0,
    )
    return LogEntry(topic, 0, 0, 0, False, None, value, (), batch)


def avro(value):
    out = io.BytesIO()
    fastavro.schemaless_writer(out, fastavro.parse_schema(SCHEMA), value)
    return out.getvalue()


def protobuf_descriptor():
    from google.protobuf import descriptor_pb2

    file = descriptor_pb2.FileDescriptorProto(name="order.proto", package="p", syntax="proto3")
    message = file.message_type.add(name="Order")
    message.field.add(name="sku", number=1, type=9, label=1)
    return base64.b64encode(file.SerializeToString()).decode()


def registry_of(schemas):
    calls = []

    def answer(request):
        calls.append(str(request.url))
        number = int(request.url.path.rpartition("/")[2])
        if number not in schemas:
            return httpx.Response(404, json={"error_code": 40403})
        return httpx.Response(200, json=schemas[number])

    registry = SchemaRegistry("http://registry/", lambda: 0.0, httpx.MockTransport(answer))
    return registry, calls


@pytest.mark.parametrize(
    ("data", "form", "text"),
    [
        (b'{"b": 1, "a": "\xc3\xa9"}', "json", '{"b": 1, "a": "é"}'),
        (b"plain", "text", "plain"),
        (b"{broken", "text", "{broken"),
        (b"", "text", ""),
        (None, "null", ""),
        (b"9" * 6000, "text", "9" * 6000),
        (b"[" * 50_000, "text", "[" * 50_000),
    ],
)
def test_the_format_of_a_value_is_detected(data, form, text):
    found = RecordDecoder().decode(entry(data)).value
    assert (found.format, found.text()) == (form, text)


def test_bytes_that_are_not_text_are_hex():
    found = RecordDecoder().decode(entry(b"\xff\x00a")).value
    assert (found.format, found.text().split()[:4]) == ("hex", ["00000000", "ff", "00", "61"])


def test_a_chosen_format_that_does_not_fit_names_the_reason():
    found = RecordDecoder(value_format="json").decode(entry(b"no json")).value
    assert found.format == "hex"
    assert found.problem.startswith("the bytes are not json")
    found = RecordDecoder(value_format="avro").decode(entry(b"\x02")).value
    assert "schema" in found.problem


def test_avro_by_a_given_schema():
    decoder = RecordDecoder(value_format="avro", avro_schema=json.dumps(SCHEMA))
    assert decoder.decode(entry(avro({"id": 7}))).value.value == {"id": 7}
    framed = b"\0\0\0\0\x09" + avro({"id": 8})
    found = decoder.decode(entry(framed)).value
    assert (found.value, found.schema_id) == ({"id": 8}, 9)
    with pytest.raises(ValueError, match="not an Avro schema"):
        RecordDecoder(avro_schema='{"type": "nothing"}')


async def test_schemas_of_the_registry_are_read_once():
    schemas = {
        1: {"schema": json.dumps(SCHEMA)},
        2: {"schemaType": "PROTOBUF", "schema": protobuf_descriptor()},
    }
    registry, calls = registry_of(schemas)
    decoder = RecordDecoder(registry)
    framed = [
        b"\0\0\0\0\x01" + avro({"id": 7}),
        b"\0\0\0\0\x02\x00" + b"\x0a\x03abc",
        b"\0\0\0\0\x03rest",
    ]
    entries = [entry(data) for data in framed]
    await decoder.prepare(entries)
    await decoder.prepare(entries)
    found = [decoder.decode(item).value for item in entries]
    assert [item.format for item in found] == ["avro", "protobuf", "hex"]
    assert (found[0].value, found[1].value) == ({"id": 7}, {"sku": "abc"})
    assert "schema 3 cannot be read" in found[2].problem
    assert len(calls) == 4


def test_control_and_direction_characters_are_escaped():
    assert visible("a\tb\n\x1b[0m\x00\u202e\ud800") == "a\tb\n\\x1b[0m\\x00\\u202e\\ud800"


@pytest.mark.parametrize("form", ["auto", "text"])
def test_a_preview_decodes_the_beginning_of_a_large_text(form):
    data = "é".encode() * MAX_PARSED_BYTES + b"x"
    found = RecordDecoder(value_format=form, preview=True).decode(entry(b"a" + data)).value
    assert (found.format, len(found.value)) == ("text", MAX_PARSED_BYTES // 2)
    whole = RecordDecoder(value_format=form).decode(entry(data)).value
    assert len(whole.value) == MAX_PARSED_BYTES + 1


def test_a_preview_of_large_bytes_that_are_no_text_is_hex():
    data = b"\xff" * (MAX_PARSED_BYTES + 1)
    assert RecordDecoder(preview=True).decode(entry(data)).value.format == "hex"


async def test_a_page_keeps_no_bytes_of_large_records():
    previews = RecordPreviews(RecordDecoder(preview=True))
    entries = [entry(b"small"), replace(entry(b"x" * 100_000), offset=1)]
    kept = await previews.shorten(entries)
    assert [item.value for item in kept] == [b"small", None]
    small, large = await previews.bodies(kept)
    assert small.value.text == "small"
    assert (large.offset, large.size_bytes, large.value.size) == (1, 100_000, 100_000)
    assert (large.value.text, large.value.truncated) == ("x" * 400, True)
