"""Decodes values that name their schema in a registry: Avro, Protobuf and JSON Schema.

A serializer of the registry writes a zero byte and the schema's id (four bytes) before the value.
The registry's HTTP API returns the schema; Protobuf schemas are requested as a serialized
descriptor, so no compiler is needed. Schemas never change, so decoders are kept; a failed request
is tried again after `_RETRY_S`. Redirects are not followed: only the configured
address is used.
"""

import base64
import io
import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import httpx

FRAME_BYTES = 5
_TIMEOUT_S = 5.0
_RETRY_S = 30.0
_MAX_KEPT = 1000
Decode = Callable[[bytes], object]


class SchemaError(Exception):
    """A schema cannot be read, or a value does not match it; the text is for the user."""


@dataclass(frozen=True, slots=True)
class RegisteredSchema:
    kind: str
    decode: Decode


def schema_id(data: bytes) -> int | None:
    """Returns the schema id that a value starts with; None without one.

    >>> schema_id(bytes([0, 0, 0, 0, 7, 2])), schema_id(b"{}")
    (7, None)
    """
    if len(data) < FRAME_BYTES or data[0] != 0:
        return None
    return int.from_bytes(data[1:FRAME_BYTES], "big")


class SchemaRegistry:
    """Reads and keeps the schemas of one registry; `now` returns monotonic seconds."""

    def __init__(
        self, url: str, now: Callable[[], float], transport: httpx.AsyncBaseTransport | None = None
    ) -> None:
        self._url = url.rstrip("/")
        self._now = now
        self._transport = transport
        self._schemas: dict[int, RegisteredSchema] = {}
        self._failed: dict[int, tuple[float, str]] = {}

    def known(self, number: int) -> RegisteredSchema | None:
        """Returns a schema that `load` has read.

        Raises:
            SchemaError: The last attempt to read it failed.
        """
        if number in self._failed:
            raise SchemaError(self._failed[number][1])
        return self._schemas.get(number)

    async def load(self, numbers: set[int]) -> None:
        """Reads the schemas that are not known yet; failures are kept for a while."""
        for number in numbers - self._schemas.keys():
            failed = self._failed.get(number)
            if failed is not None and self._now() - failed[0] < _RETRY_S:
                continue
            try:
                if len(self._schemas) >= _MAX_KEPT:
                    self._schemas.clear()
                self._schemas[number] = await self._read(number)
                self._failed.pop(number, None)
            except SchemaError as error:
                if len(self._failed) >= _MAX_KEPT:
                    self._failed.clear()
                self._failed[number] = (self._now(), str(error))

    async def _read(self, number: int) -> RegisteredSchema:
        body = await self._get(number, {})
        kind = str(body.get("schemaType", "AVRO")).upper()
        if kind == "PROTOBUF":
            body = await self._get(number, {"format": "serialized"})
        makers = {
            "AVRO": avro_decoder,
            "JSON": lambda _text: json.loads,
            "PROTOBUF": protobuf_decoder,
        }
        if kind not in makers:
            raise SchemaError(f"schema {number} has the unknown type {kind}")
        try:
            return RegisteredSchema(kind.lower(), makers[kind](str(body["schema"])))
        except (KeyError, ValueError, TypeError) as error:
            raise SchemaError(f"schema {number} of the registry is invalid: {error}") from error

    async def _get(self, number: int, query: dict[str, str]) -> dict[str, object]:
        address = f"{self._url}/schemas/ids/{number}"
        try:
            async with httpx.AsyncClient(transport=self._transport, timeout=_TIMEOUT_S) as client:
                response = await client.get(address, params=query or None)
            response.raise_for_status()
            body = response.json()
        except (httpx.HTTPError, ValueError) as error:
            raise SchemaError(
                f"schema {number} cannot be read from the registry: {error}"
            ) from error
        if not isinstance(body, dict):
            raise SchemaError(f"schema {number}: the registry did not return an object")
        return body


def avro_decoder(schema_text: str) -> Decode:
    """Returns a function that decodes one Avro value; ValueError if the schema is invalid."""
    import fastavro  # start-up time and memory: only for values in Avro

    try:
        stripped = schema_text.strip()
        parsed = fastavro.parse_schema(
            json.loads(stripped) if stripped.startswith(("{", "[", '"')) else stripped
        )
    except Exception as error:
        raise ValueError(f"is not an Avro schema: {error}") from error

    def decode(data: bytes) -> object:
        stream = io.BytesIO(data)
        value = fastavro.schemaless_reader(stream, parsed, None)
        if stream.read(1):
            raise ValueError("has more bytes than the schema describes")
        return value

    return decode


def protobuf_decoder(descriptor_text: str) -> Decode:
    """Returns a function that decodes a value with message indexes; takes a base64 descriptor."""
    # Start-up time and memory: only for values in Protobuf.
    from google.protobuf import descriptor_pb2, descriptor_pool, json_format, message_factory

    file = descriptor_pb2.FileDescriptorProto.FromString(base64.b64decode(descriptor_text))
    pool = descriptor_pool.DescriptorPool()
    _add_well_known(pool, descriptor_pool.Default(), file.dependency)
    added = pool.Add(file) or pool.FindFileByName(file.name)

    def decode(data: bytes) -> object:
        indexes, start = _message_indexes(data)
        descriptor = list(added.message_types_by_name.values())[indexes[0]]
        for index in indexes[1:]:
            descriptor = descriptor.nested_types[index]
        message = message_factory.GetMessageClass(descriptor).FromString(data[start:])
        return json_format.MessageToDict(message, preserving_proto_field_name=True)

    return decode


def _add_well_known(pool: Any, installed: Any, names: Any) -> None:
    """Adds the files of google/protobuf that a schema imports; others make the schema invalid."""
    for name in names:
        if name.startswith("google/protobuf/"):
            module = name.removeprefix("google/protobuf/").removesuffix(".proto")
            __import__(f"google.protobuf.{module}_pb2")
            file = installed.FindFileByName(name)
            _add_well_known(pool, installed, [item.name for item in file.dependencies])
            pool.AddSerializedFile(file.serialized_pb)


def _message_indexes(data: bytes) -> tuple[list[int], int]:
    """Returns the path to the message type that a value starts with, and where the value begins."""
    count, position = _zigzag(data, 0)
    if count == 0:
        return [0], position
    if not 0 < count <= 32:
        raise ValueError(f"has {count} message indexes, which is not possible")
    indexes = []
    for _ in range(count):
        index, position = _zigzag(data, position)
        indexes.append(index)
    return indexes, position


def _zigzag(data: bytes, position: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[position]
        position += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return (value >> 1) ^ -(value & 1), position
        shift += 7
        if shift > 28:
            raise ValueError("has a number of more than 5 bytes")
