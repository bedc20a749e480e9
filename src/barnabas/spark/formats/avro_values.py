"""Avro by fastavro: one value is one datum without a file around it.

Confluent's serializers put five bytes before it, a zero and the schema's number in a registry;
the number is skipped, the schema is the one given.
"""

import io
import uuid
from collections.abc import Callable
from typing import Any

from barnabas.model.errors import LocalError

_FRAME = 5
_MAGIC = 0


def avro_row(schema: Any, *, framed: bool = False) -> Callable[[bytes], Any]:
    """A function from one value's bytes; ValueError says what is wrong with them."""
    fastavro = _fastavro()
    parsed = fastavro.parse_schema(schema)
    read = fastavro.schemaless_reader
    with_uuids = "'uuid'" in repr(schema)

    def decode(data: bytes) -> Any:
        stream = io.BytesIO(_unframed(data) if framed else data)
        try:
            value = read(stream, parsed, None)
        except Exception as error:  # noqa: BLE001 - fastavro raises whatever bad bytes lead to
            raise ValueError(f"is no Avro of this schema: {error!r}") from None
        if stream.read(1):
            raise ValueError("has more bytes than the schema takes")
        return _as_text(value) if with_uuids else value

    return decode


def avro_writer(schema: Any) -> Callable[[Any], bytes]:
    """A function from a value to its bytes."""
    fastavro = _fastavro()
    parsed = fastavro.parse_schema(schema)

    def encode(value: Any) -> bytes:
        stream = io.BytesIO()
        fastavro.schemaless_writer(stream, parsed, value)
        return stream.getvalue()

    return encode


def _unframed(data: bytes) -> bytes:
    if len(data) < _FRAME or data[0] != _MAGIC:
        raise ValueError("does not begin with a zero byte and a schema's number")
    return data[_FRAME:]


def _as_text(value: Any) -> Any:
    """UUIDs as text, wherever they are."""
    if isinstance(value, dict):
        return {name: _as_text(item) for name, item in value.items()}
    if isinstance(value, list):
        return [_as_text(item) for item in value]
    return str(value) if isinstance(value, uuid.UUID) else value


def _fastavro() -> Any:
    try:
        import fastavro
    except ImportError:
        raise LocalError("the format avro needs `pip install fastavro`") from None
    return fastavro
