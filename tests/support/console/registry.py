"""A schema registry on this machine, and values in its format."""

import base64
import io
import json
from urllib.parse import urlsplit

import fastavro
from support.network.local_http import http_server

AVRO_SCHEMA = {
    "type": "record",
    "name": "Order",
    "fields": [{"name": "id", "type": "long"}, {"name": "customer", "type": "string"}],
}
AVRO_ID, PROTOBUF_ID = 1, 2


def registry():
    """Serves the schema of an order in Avro (id 1) and in Protobuf (id 2)."""
    schemas = {
        AVRO_ID: {"schema": json.dumps(AVRO_SCHEMA)},
        PROTOBUF_ID: {"schemaType": "PROTOBUF", "schema": _descriptor()},
    }

    def answer(path, _body):
        number = urlsplit(path).path.removeprefix("/schemas/ids/")
        found = schemas.get(int(number)) if number.isdigit() else None
        return (200, found) if found else (404, {"error_code": 40403, "message": "not found"})

    return http_server(answer)


def avro_order(number, customer):
    """Returns an order as a serializer of the registry writes it."""
    out = io.BytesIO()
    value = {"id": number, "customer": customer}
    fastavro.schemaless_writer(out, fastavro.parse_schema(AVRO_SCHEMA), value)
    return framed(AVRO_ID, out.getvalue())


def protobuf_order(customer):
    """Returns an order in Protobuf: the first message type of its file, then the message."""
    data = customer.encode()
    return framed(PROTOBUF_ID, b"\x00\x0a" + bytes([len(data)]) + data)


def framed(schema_id, data):
    """Returns bytes after the number of their schema."""
    return b"\0" + schema_id.to_bytes(4, "big") + data


def _descriptor():
    from google.protobuf import descriptor_pb2

    file = descriptor_pb2.FileDescriptorProto(name="order.proto", package="shop", syntax="proto3")
    message = file.message_type.add(name="Order")
    message.field.add(name="customer", number=1, type=9, label=1)
    return base64.b64encode(file.SerializeToString()).decode()
