import struct
from types import SimpleNamespace

import pytest

from barnabas.model.errors import DecodingBudgetError, LocalError, ProtocolError
from barnabas.wire import primitives


@pytest.mark.parametrize(
    ("value", "encoded"),
    [
        (0, "00"),
        (1, "01"),
        (127, "7f"),
        (128, "8001"),
        (300, "ac02"),
        (16383, "ff7f"),
        (16384, "808001"),
        (0xFFFFFFFF, "ffffffff0f"),
    ],
)
def test_an_unsigned_varint_is_read_as_it_was_written(value, encoded):
    raw = bytes.fromhex(encoded)
    assert primitives.uvarint(value) == raw
    assert primitives.read_uvarint(memoryview(b"x" + raw), 1) == (value, 1 + len(raw))


@pytest.mark.parametrize("encoded", ["ffffffff1f", "ffffffffff01", "808080808000"])
def test_uvarint_of_more_than_32_bits_is_rejected(encoded):
    with pytest.raises(ProtocolError, match="too long"):
        primitives.read_uvarint(memoryview(bytes.fromhex(encoded)), 0)


def test_uvarint_may_be_longer_than_needed():
    """The protocol allows padding, and Kafka reads it."""
    assert primitives.read_uvarint(memoryview(b"\x81\x80\x00"), 0) == (1, 3)


def test_a_string_longer_than_an_int16_is_an_error():
    assert primitives.long_string_length(32768) == b"\x80\x80\x02"
    with pytest.raises(LocalError, match="32768 bytes"):
        primitives.long_string_length(32769)
    with pytest.raises(ProtocolError, match="string of 32768 bytes"):
        primitives.read_long_string_length(memoryview(b"\x81\x80\x02"), 1)


def test_tags_are_skipped():
    section = b"\x02" + b"\x00\x01x" + b"\xff\x01\x02yz"
    assert primitives.skip_tags(memoryview(section + b"next"), 0, 13) == len(section)


@pytest.mark.parametrize(
    "section",
    [
        pytest.param(b"\x01\x00\x05x", id="content past the end"),
        pytest.param(b"\x03\x00\x00\x01\x00", id="more tags than bytes for them"),
        pytest.param(b"\x81\x08" + bytes(4096), id="more tags than anybody sends"),
    ],
)
def test_bad_tags_are_rejected(section):
    with pytest.raises(ProtocolError):
        primitives.skip_tags(memoryview(section), 0, len(section))


@pytest.mark.parametrize("count", [0, 1, 15, 16, 1000])
@pytest.mark.parametrize("code", ["b", "h", "i", "q"])
def test_integer_arrays_are_read_as_they_were_written(count, code):
    values = [value % 120 for value in range(count)]
    raw = memoryview(primitives.int_elements(values, code))
    assert primitives.read_ints(raw, 0, len(raw), count, code, [1 << 20]) == (values, len(raw))
    with pytest.raises(ProtocolError):
        primitives.read_ints(raw, 0, len(raw), count + 1, code, [1 << 20])
    if code == "i":
        assert primitives.int32_elements(values) == raw
        assert primitives.read_int32s(raw, 0, len(raw), count, [1 << 20]) == (values, len(raw))


def test_string_arrays_are_read_as_they_were_written():
    values = ["", "a", "ü" * 100]
    for write, read in (
        (primitives.write_strings, primitives.read_strings),
        (primitives.write_compact_strings, primitives.read_compact_strings),
    ):
        out = bytearray()
        write(out, values)
        assert read(memoryview(out), 0, len(out), 3, [1 << 20]) == (values, len(out))


@pytest.mark.parametrize("raw", [b"\x00\x05abc", b"\xff\xff", b"\x80\x00" + bytes(40000)])
def test_bad_string_in_an_array(raw):
    with pytest.raises(ProtocolError):
        primitives.read_strings(memoryview(raw), 0, len(raw), 1, [1 << 20])


@pytest.mark.parametrize("raw", [b"\x05abc", b"\x00"])
def test_bad_compact_string_in_an_array(raw):
    with pytest.raises(ProtocolError):
        primitives.read_compact_strings(memoryview(raw), 0, len(raw), 1, [1 << 20])


@pytest.mark.parametrize(
    ("read", "size"),
    [
        (primitives.read_strings, 2),
        (primitives.read_compact_strings, 1),
        (primitives.read_int32s, 4),
    ],
)
def test_arrays_take_their_memory_from_the_budget_first(read, size):
    raw = memoryview(b"\1" * size * 100 if size == 1 else bytes(size * 100))
    budget = [10_000]
    items, _ = read(raw, 0, len(raw), 100, budget)
    assert len(items) == 100
    assert 0 <= budget[0] <= 10_000 - 100 * 40
    with pytest.raises(DecodingBudgetError):
        read(raw, 0, len(raw), 100, [1_000])


@pytest.mark.parametrize("code", "bhiq")
def test_many_integers_are_read_in_steps(code, monkeypatch):
    values = [number % 100 for number in range(25_001)]
    raw = memoryview(b"\xff" + struct.pack(f">{len(values)}{code}", *values))
    formats = []

    def unpack_from(layout, *given):
        formats.append(layout)
        return struct.unpack_from(layout, *given)

    monkeypatch.setattr(primitives, "struct", SimpleNamespace(unpack_from=unpack_from))
    read = primitives.read_ints(raw, 1, len(raw), len(values), code, [1 << 22])
    assert read == (values, len(raw))
    assert formats == [f">10000{code}", f">10000{code}", f">5001{code}"]
