"""A slow encoder that interprets layouts field by field, to compare with the generated code.

It also marks where lengths, counts, tags and null markers are, for tests that mutate exactly
those, and can add unknown tags to every tag section.
"""

import struct
from dataclasses import dataclass, field

from barnabas.model.ids import ZERO_UUID
from codegen.layout import Layout, Slot
from codegen.model import FIXED


@dataclass
class Encoded:
    """Bytes, and (position, size, kind) of what steers a decoder."""

    data: bytearray = field(default_factory=bytearray)
    marks: list[tuple[int, int, str]] = field(default_factory=list)

    def mark(self, raw: bytes, kind: str) -> None:
        self.marks.append((len(self.data), len(raw), kind))
        self.data += raw


def uvarint(value: int) -> bytes:
    out = []
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*out, value])


def encode(layout: Layout, instance, unknown_tags: dict[int, bytes] | None = None) -> Encoded:
    """Returns the struct in its layout, with extra tags in each of its tag sections."""
    encoded = Encoded()
    _write_struct(encoded, layout, instance, unknown_tags or {})
    return encoded


def _write_struct(out: Encoded, layout: Layout, instance, unknown: dict[int, bytes]) -> None:
    for slot in layout.slots:
        _write_slot(out, slot, getattr(instance, slot.field.name), layout.flexible, unknown)
    if not layout.flexible:
        return
    tags: list[tuple[int, Encoded]] = []
    for slot in layout.tagged:
        value = getattr(instance, slot.field.name)
        if not _is_default(slot, value):
            content = Encoded()
            _write_slot(content, slot, value, True, unknown)
            tags.append((slot.field.tag, content))
    tags += [(tag, Encoded(bytearray(raw))) for tag, raw in unknown.items()]
    out.mark(uvarint(len(tags)), "tag count")
    for tag, content in sorted(tags, key=lambda pair: pair[0]):
        out.mark(uvarint(tag), "tag")
        out.mark(uvarint(len(content.data)), "tag size")
        start = len(out.data)
        out.marks += [(start + at, size, kind) for at, size, kind in content.marks]
        out.data += content.data


def _write_slot(out: Encoded, slot: Slot, value, flexible: bool, unknown) -> None:
    if slot.is_fixed:
        out.data += struct.pack(">" + FIXED[slot.field.type], value)
    elif slot.field.is_array:
        _write_length(out, None if value is None else len(value), flexible, "i", "count")
        for item in value or ():
            _write_element(out, slot, item, flexible, unknown)
    elif slot.nested is not None and slot.nullable:
        out.mark(b"\xff" if value is None else b"\1", "marker")
        if value is not None:
            _write_struct(out, slot.nested, value, unknown)
    else:
        _write_element(out, slot, value, flexible, unknown)


def _write_element(out: Encoded, slot: Slot, value, flexible: bool, unknown) -> None:
    kind = slot.field.type
    if slot.nested is not None:
        _write_struct(out, slot.nested, value, unknown)
    elif kind in FIXED:
        out.data += struct.pack(">" + FIXED[kind], value)
    else:
        raw = value.encode() if kind == "string" and value is not None else value
        code = "h" if kind == "string" else "i"
        _write_length(out, None if raw is None else len(raw), flexible, code, "length")
        out.data += raw or b""


def _write_length(out: Encoded, length: int | None, flexible: bool, code: str, kind: str) -> None:
    if flexible:
        out.mark(uvarint(0 if length is None else length + 1), f"compact {kind}")
    else:
        out.mark(struct.pack(">" + code, -1 if length is None else length), kind)


def _is_default(slot: Slot, value) -> bool:
    declared = slot.field.default
    if slot.field.is_array:
        return not value if declared is None else value is None
    if slot.nested is not None:
        return value is None or (not slot.nullable and value == type(value)())
    if declared == "null":
        return value is None
    if declared is not None:
        return value == int(declared)
    zero = {"string": "", "bytes": b"", "uuid": ZERO_UUID, "bool": False}
    return value == zero.get(slot.field.type, 0)
