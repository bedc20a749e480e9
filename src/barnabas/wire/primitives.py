"""Functions for the parts of the wire format; the generated code calls them.

Integers are big-endian. Lengths and counts are int16/int32 in the older layouts (-1 is null) and
an unsigned varint of length + 1 in flexible ones (0 is null). An unsigned varint has seven bits
per byte, lowest bits first, and at most five bytes.

Readers take `(buf, pos, end)` and return the new position. They check every length against `end`
before they slice or allocate. A read beyond the buffer raises struct.error or IndexError, which
`Message.decode` converts to ProtocolError. Records are never copied.

`budget` is a list with one number: the estimated memory that the objects of the message may still
use. The reader of an array subtracts the estimate for all elements before it creates the first one.
It is not sufficient to compare the count with the remaining bytes: an empty string has one or two
bytes on the wire and 60 or more in memory.
"""

import struct
from collections.abc import Iterable, Sequence, Sized
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar, cast

from barnabas.model.errors import DecodingBudgetError, LocalError, ProtocolError

Part: TypeAlias = bytes | bytearray | memoryview | Sized
"""Part of an encoded message: bytes, or an object with a length that the network can send."""


def join_parts(parts: Iterable[Part]) -> bytes:
    """Returns an encoded message as one object; it must consist of bytes only."""
    return b"".join(cast("Iterable[bytes]", parts))


Records: TypeAlias = Any
"""A record batch sequence: a memoryview when decoded, any Part when encoded."""

# Estimated memory of an array element, including its reference in the list.
_STRING_COST = 64
_INTEGER_COST = 48
MAX_STRING = 32767
# Kafka defines few tags; a frame of two-byte tags would need many times its size in memory.
MAX_TAGS = 1024
_MAX_VARINT_BYTES = 5

UVARINTS: tuple[bytes, ...] = tuple(bytes((value,)) for value in range(128))
"""Encoded unsigned varints of one byte."""

EMPTY: list[Any] = []
"""Default of list parameters; the constructor replaces it by a new list."""

_T = TypeVar("_T")

if TYPE_CHECKING:

    def new(cls: type[_T]) -> _T:
        """Creates an instance without __init__: the decoder sets every slot."""

else:
    new = object.__new__


def overrun(pos: int, length: int) -> ProtocolError:
    """Returns the error for a length that exceeds the remaining bytes."""
    return ProtocolError(f"{length} bytes at {pos} exceed the remaining bytes")


def too_many(pos: int, count: int) -> ProtocolError:
    """Returns the error for an element count that does not fit into the remaining bytes."""
    return ProtocolError(f"{count} elements at {pos} do not fit into the remaining bytes")


def over_budget(pos: int, count: int) -> DecodingBudgetError:
    """Returns the error for elements that exceed the memory budget of the message."""
    return DecodingBudgetError(f"{count} elements at {pos} exceed the memory for this message")


def unexpected_null(pos: int, name: str) -> ProtocolError:
    """Returns the error for a null that the version does not allow."""
    return ProtocolError(f"{name} at {pos} is null")


def bad_tag(pos: int, name: str) -> ProtocolError:
    """Returns the error for a tagged field whose content does not have the declared size."""
    return ProtocolError(f"tagged field {name} ending at {pos} does not have its declared size")


def read_uvarint(buf: memoryview, pos: int) -> tuple[int, int]:
    """Returns the value and the next position."""
    value = 0
    for index in range(_MAX_VARINT_BYTES):
        byte = buf[pos + index]
        value |= (byte & 0x7F) << (7 * index)
        if byte < 0x80:
            if value > 0xFFFFFFFF:
                break
            return value, pos + index + 1
    raise ProtocolError(f"varint at {pos} is too long")


def read_long_uvarint(buf: memoryview, pos: int) -> tuple[int, int]:
    """Reads a varint of several bytes; its first byte is just before `pos`."""
    return read_uvarint(buf, pos - 1)


def read_long_string_length(buf: memoryview, pos: int) -> tuple[int, int]:
    """Reads length + 1 of a string from several bytes; the first byte is just before `pos`."""
    value, pos = read_uvarint(buf, pos - 1)
    if value > MAX_STRING + 1:
        raise ProtocolError(f"string of {value - 1} bytes at {pos}, the maximum is {MAX_STRING}")
    return value, pos


def uvarint(value: int) -> bytes:
    """Encodes an unsigned varint."""
    if value < 0x80:
        return UVARINTS[value]
    if value < 0x4000:
        return bytes((value & 0x7F | 0x80, value >> 7))
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def long_string_length(value: int) -> bytes:
    """Encodes length + 1 of a string of more than 126 bytes."""
    if value > MAX_STRING + 1:
        raise LocalError(f"string of {value - 1} bytes, the maximum is {MAX_STRING}")
    return uvarint(value)


def read_tag(buf: memoryview, pos: int, end: int) -> tuple[int, int, int]:
    """Returns the tag, the position of its content and the position after it."""
    tag, pos = read_uvarint(buf, pos)
    size, pos = read_uvarint(buf, pos)
    stop = pos + size
    if stop > end:
        raise overrun(pos, size)
    return tag, pos, stop


def read_tag_count(buf: memoryview, pos: int, end: int) -> tuple[int, int]:
    """Reads the number of tagged fields: each has at least two bytes, and MAX_TAGS is the limit."""
    count, pos = read_uvarint(buf, pos)
    if count * 2 > end - pos or count > MAX_TAGS:
        raise too_many(pos, count)
    return count, pos


def skip_tags(buf: memoryview, pos: int, end: int) -> int:
    """Skips a tag section; KIP-482 requires that a reader ignores unknown tags."""
    count, pos = read_tag_count(buf, pos, end)
    for _ in range(count):
        _, _, pos = read_tag(buf, pos, end)
    return pos


def read_strings(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[str], int]:
    """Reads the elements of an array of strings with int16 lengths."""
    if count * 2 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * _STRING_COST
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items = []
    for _ in range(count):
        length = buf[pos] << 8 | buf[pos + 1]
        pos += 2
        stop = pos + length
        if length > MAX_STRING or stop > end:
            raise overrun(pos, length)
        items.append(str(buf[pos:stop], "utf-8"))
        pos = stop
    return items, pos


def read_compact_strings(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[str], int]:
    """Reads the elements of an array of strings with varint lengths."""
    if count > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * _STRING_COST
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items = []
    for _ in range(count):
        length = buf[pos]
        pos += 1
        if length > 127:
            length, pos = read_long_string_length(buf, pos)
        if length == 0:
            raise unexpected_null(pos, "string in an array")
        stop = pos + length - 1
        if stop > end:
            raise overrun(pos, length - 1)
        items.append(str(buf[pos:stop], "utf-8"))
        pos = stop
    return items, pos


def write_strings(out: bytearray, items: Sequence[str]) -> None:
    """Writes the elements of an array of strings with int16 lengths."""
    for item in items:
        raw = item.encode()
        out += _INT16.pack(len(raw))
        out += raw


def write_compact_strings(out: bytearray, items: Sequence[str]) -> None:
    """Writes the elements of an array of strings with varint lengths."""
    for item in items:
        raw = item.encode()
        length = len(raw) + 1
        out += UVARINTS[length] if length < 128 else long_string_length(length)
        out += raw


_INT16 = struct.Struct(">h")
# Compiled formats of short arrays, which are by far the most common.
_FEW = 16
_ELEMENTS = {
    code: tuple(struct.Struct(f">{count}{code}") for count in range(_FEW)) for code in "bhiq"
}
_ELEMENT_SIZE = {"b": 1, "h": 2, "i": 4, "q": 8}
_STEP = 10_000
"""Integers that are read at once. Two million in one operation took 85 ms, and the event loop could
not run meanwhile."""
_FEW_INT32 = _ELEMENTS["i"]


def read_ints(
    buf: memoryview, pos: int, end: int, count: int, code: str, budget: list[int]
) -> tuple[list[int], int]:
    """Reads the elements of an array of integers; `code` is their struct format character."""
    stop = pos + count * _ELEMENT_SIZE[code]
    if stop > end:
        raise too_many(pos, count)
    left = budget[0] - count * _INTEGER_COST
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    if count < _FEW:
        return list(_ELEMENTS[code][count].unpack_from(buf, pos)), stop
    return _read_many(buf, pos, stop, code), stop


def read_int32s(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[int], int]:
    """Reads the elements of an array of int32; faster than `read_ints`."""
    stop = pos + count * 4
    if stop > end:
        raise too_many(pos, count)
    left = budget[0] - count * _INTEGER_COST
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    if count < _FEW:
        return list(_FEW_INT32[count].unpack_from(buf, pos)), stop
    return _read_many(buf, pos, stop, "i"), stop


def _read_many(buf: memoryview, pos: int, stop: int, code: str) -> list[int]:
    """Reads the integers from `pos` to `stop` in steps; other threads can run between two steps."""
    size = _ELEMENT_SIZE[code]
    items: list[int] = []
    for start in range(pos, stop, _STEP * size):
        count = min(stop - start, _STEP * size) // size
        items += struct.unpack_from(f">{count}{code}", buf, start)
    return items


def int_elements(items: Sequence[int], code: str) -> bytes:
    """Encodes the elements of an array of integers."""
    count = len(items)
    if count < _FEW:
        return _ELEMENTS[code][count].pack(*items)
    return struct.pack(f">{count}{code}", *items)


def int32_elements(items: Sequence[int]) -> bytes:
    """Encodes the elements of an array of int32."""
    count = len(items)
    if count < _FEW:
        return _FEW_INT32[count].pack(*items)
    return struct.pack(f">{count}i", *items)


def write_tags(out: bytearray, tags: Sequence[tuple[int, bytes | bytearray]]) -> None:
    """Writes a tag section: the count, then tag, size and content of each field."""
    out += uvarint(len(tags))
    for tag, content in tags:
        out += uvarint(tag)
        out += uvarint(len(content))
        out += content
