"""End markers as bytes."""

import pytest

from barnabas.model.errors import CorruptRecordError
from barnabas.records.control import (
    ControlType,
    decode_control_type,
    decode_end_marker,
    encode_end_marker,
)


def test_known_bytes():
    assert encode_end_marker(True, 5) == (b"\0\0\0\1", b"\0\0\0\0\0\5")
    assert encode_end_marker(False, 5)[0] == b"\0\0\0\0"


def test_foreign_types_are_unknown_not_errors():
    assert decode_control_type(b"\0\0\0\2") is ControlType.UNKNOWN
    assert decode_end_marker(b"\0\0\0\6", None) is None


def test_later_versions_may_append():
    assert decode_control_type(b"\0\1\0\1more") is ControlType.COMMIT


@pytest.mark.parametrize("key", [None, b"", b"\0\0\0", b"\xff\xff\0\1"])
def test_keys_without_a_type(key):
    with pytest.raises(CorruptRecordError):
        decode_control_type(key)


@pytest.mark.parametrize("value", [None, b"", b"\0\0\0\0\0"])
def test_markers_without_an_epoch(value):
    with pytest.raises(CorruptRecordError):
        decode_end_marker(b"\0\0\0\1", value)
