"""Decodes keys and values for people: JSON, text, Avro, Protobuf, internal records, or hex.

`auto` tries in this order: records of the coordinators' topics, values with a schema id if a
registry is configured, JSON, text, hex. A chosen format that does not fit falls back to hex and
names the reason. Values above `MAX_PARSED_BYTES` are not parsed, and a decoder for previews decodes
only their beginning. Texts are safe to show: control characters are escaped, and hex dumps have a
bounded length.
"""

import base64
import codecs
import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from barnabas.console.services.records.log_entries import LogEntry
from barnabas.console.services.records.schema_registry import (
    FRAME_BYTES,
    Decode,
    SchemaError,
    SchemaRegistry,
    avro_decoder,
    schema_id,
)
from barnabas.model.errors import BarnabasError
from barnabas.model.ids import Uuid
from barnabas.wire.coordinator_records import (
    maybe_decode_offsets_record,
    maybe_decode_transaction_record,
    version_of,
)
from barnabas.wire.message import Message, WireStruct

MAX_HEX_BYTES = 4096
_UNSAFE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\u2028\u2029\ufeff\ud800-\udfff]"
)


def visible(text: str) -> str:
    r"""Returns the text with control and direction characters as escapes.

    Terminal escape codes, and characters that reverse the direction of the text after them, would
    change how the rest of the page reads. Line feed and tab stay.

    >>> visible("a\x1b[31mb\u202e")
    'a\\x1b[31mb\\u202e'
    """
    return _UNSAFE.sub(lambda match: _escape(ord(match[0])), text)


def _escape(code: int) -> str:
    return f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}"


def hex_dump(data: bytes) -> str:
    """Returns lines of offset, 16 bytes and their ASCII text, for the first MAX_HEX_BYTES.

    >>> hex_dump(b"\\xffab")
    '00000000  ff 61 62                                         .ab'
    """
    lines = []
    for at in range(0, min(len(data), MAX_HEX_BYTES), 16):
        part = data[at : at + 16]
        shown = "".join(chr(byte) if 32 <= byte < 127 else "." for byte in part)
        lines.append(f"{at:08x}  {part.hex(' '):<47}  {shown}")
    return "\n".join(lines)


_DECODERS = {
    "__consumer_offsets": maybe_decode_offsets_record,
    "__transaction_state": maybe_decode_transaction_record,
}


def decode_internal(
    topic: str, key: bytes | None, value: bytes | None
) -> tuple[dict[str, object], dict[str, object] | None] | None:
    """Returns key and value as JSON values; None for other topics and unknown kinds of records."""
    decode = _DECODERS.get(topic)
    if decode is None or key is None:
        return None
    try:
        found = decode(key, value)
        if found is None:
            return None
        shown_key = _document(found[0], version_of(key))
        if found[1] is None or value is None:
            return shown_key, None
        return shown_key, _document(found[1], version_of(value))
    except BarnabasError:
        return None


def _document(message: Message, version: int) -> dict[str, object]:
    return {"type": type(message).__name__, "version": version, **_struct(message, version)}


def _struct(value: WireStruct, version: int) -> dict[str, object]:
    return {
        name: _json_value(getattr(value, name), version)
        for name, _, first, last, _ in value.FIELDS
        if first <= version <= last
    }


def _json_value(value: object, version: int) -> object:
    if isinstance(value, WireStruct):
        return _struct(value, version)
    if isinstance(value, list):
        return [_json_value(item, version) for item in value]
    if isinstance(value, bytes | bytearray | memoryview):
        return base64.b64encode(value).decode()
    return str(value) if isinstance(value, Uuid) else value


Format = Literal["auto", "json", "text", "avro", "protobuf", "hex"]
MAX_PARSED_BYTES = 1024 * 1024
_JSON_START = frozenset(b'{["-0123456789tfn')


@dataclass(frozen=True, slots=True)
class Decoded:
    """A decoded key or value. `value` is a JSON value for structured formats and text otherwise."""

    format: str
    value: object
    schema_id: int | None = None
    problem: str | None = None

    def text(self, indent: int | None = None) -> str:
        """Returns a text that is safe to show."""
        if self.format in ("text", "hex", "null"):
            return visible(str(self.value))
        try:
            return visible(json.dumps(self.value, ensure_ascii=False, indent=indent, default=str))
        except RecursionError:
            return "(too deeply nested to show)"


NULL = Decoded("null", "")


@dataclass(frozen=True, slots=True)
class DecodedRecord:
    key: Decoded
    value: Decoded


class RecordDecoder:
    """Decodes records with one choice of formats.

    Args:
        avro_schema: The schema of values without a registry, for the format avro.
        preview: Whether the beginning of a large text is enough.
    """

    def __init__(
        self,
        registry: SchemaRegistry | None = None,
        key_format: Format = "auto",
        value_format: Format = "auto",
        avro_schema: str | None = None,
        *,
        preview: bool = False,
    ) -> None:
        self._registry = registry
        self._max_text = MAX_PARSED_BYTES if preview else None
        self._formats = (key_format, value_format)
        self._avro: Decode | None = None if avro_schema is None else avro_decoder(avro_schema)

    async def prepare(self, entries: Iterable[LogEntry]) -> None:
        """Reads the schemas that the entries name."""
        if self._registry is None:
            return
        numbers = {
            number
            for entry in entries
            for data in (entry.key, entry.value)
            if data is not None and (number := schema_id(data)) is not None
        }
        await self._registry.load(numbers)

    def decode(self, entry: LogEntry) -> DecodedRecord:
        if self._formats == ("auto", "auto"):
            found = decode_internal(entry.topic, entry.key, entry.value)
            if found is not None:
                value = NULL if found[1] is None else Decoded("internal", found[1])
                return DecodedRecord(Decoded("internal", found[0]), value)
        if entry.control is not None:
            return DecodedRecord(NULL, self._field(entry.value, "text"))
        return DecodedRecord(
            self._field(entry.key, self._formats[0]), self._field(entry.value, self._formats[1])
        )

    def _field(self, data: bytes | None, form: Format) -> Decoded:
        if data is None:
            return NULL
        if form == "auto":
            return self._registered(data) or _plain(data, self._max_text)
        try:
            return self._decode_as(form, data)
        except (ValueError, LookupError, SchemaError) as error:
            return _hex(data, f"the bytes are not {form}: {error}")

    def _decode_as(self, form: Format, data: bytes) -> Decoded:
        match form:
            case "hex":
                return _hex(data)
            case "text":
                return Decoded("text", _beginning(data, self._max_text, "backslashreplace"))
            case "json":
                return Decoded("json", _parsed(data))
            case "avro" if self._avro is not None:
                value = _guarded(self._avro, data[FRAME_BYTES:] if data[:1] == b"\0" else data)
                return Decoded("avro", value, schema_id(data))
        found = self._registered(data)
        if found is None or found.format == "hex":
            raise ValueError(_no_schema(form, found))
        return found

    def _registered(self, data: bytes) -> Decoded | None:
        """Decodes by the registry; None if the bytes name no schema that is known."""
        number = schema_id(data)
        if number is None or self._registry is None:
            return None
        try:
            schema = self._registry.known(number)
            if schema is None:
                return None
            if len(data) > MAX_PARSED_BYTES:
                return _hex(data, "too large to decode", number)
            value = _guarded(schema.decode, data[FRAME_BYTES:])
            return Decoded(schema.kind, value, number)
        except (SchemaError, ValueError) as error:
            return _hex(data, str(error), number)


def _no_schema(form: Format, found: Decoded | None) -> str:
    if found is not None and found.problem:
        return found.problem
    if form == "avro":
        return "give the schema, or configure a schema registry"
    return "configure a schema registry"


def _guarded(decode: Decode, data: bytes) -> object:
    try:
        return decode(data)
    except Exception as error:  # noqa: BLE001 - invalid bytes raise many kinds of errors
        raise ValueError(f"does not match its schema: {error!r}") from None


def _plain(data: bytes, max_text: int | None) -> Decoded:
    if data[:1] and data[0] in _JSON_START and len(data) <= MAX_PARSED_BYTES:
        try:
            return Decoded("json", _parsed(data))
        except ValueError:
            pass
    try:
        return Decoded("text", _beginning(data, max_text))
    except UnicodeDecodeError:
        return _hex(data)


def _beginning(data: bytes, limit: int | None, errors: str = "strict") -> str:
    """Returns the text of the first bytes, without a character that the limit cuts.

    >>> _beginning("né".encode(), 2), _beginning("né".encode(), None)
    ('n', 'né')
    """
    whole = limit is None or len(data) <= limit
    return codecs.utf_8_decode(data if whole else data[:limit], errors, whole)[0]


def _parsed(data: bytes) -> object:
    if len(data) > MAX_PARSED_BYTES:
        raise ValueError(f"{len(data)} bytes are too many to parse")
    try:
        return json.loads(data)
    except RecursionError:
        raise ValueError("too deeply nested") from None


def _hex(data: bytes, problem: str | None = None, number: int | None = None) -> Decoded:
    return Decoded("hex", hex_dump(data[:MAX_HEX_BYTES]), number, problem)
