"""Control records: the commit and abort markers that end a transaction.

Key: i16 version, i16 type (0 abort, 1 commit; readers skip other types). Value of an end marker:
i16 version, i32 epoch of the transaction coordinator that wrote it.
"""

import enum
import struct
from typing import NamedTuple

from barnabas.model.errors import CorruptRecordError

_KEY = struct.Struct(">hh")
_VALUE = struct.Struct(">hi")
_VERSION = 0


class ControlType(enum.IntEnum):
    """Type of a control record; UNKNOWN stands for all other types."""

    UNKNOWN = -1
    ABORT = 0
    COMMIT = 1


class EndMarker(NamedTuple):
    """Commit or abort of one producer's transaction, from its marker."""

    type: ControlType
    coordinator_epoch: int


def encode_end_marker(commit: bool, coordinator_epoch: int) -> tuple[bytes, bytes]:
    """Returns key and value of a marker."""
    kind = ControlType.COMMIT if commit else ControlType.ABORT
    return _KEY.pack(_VERSION, kind), _VALUE.pack(_VERSION, coordinator_epoch)


def decode_control_type(key: bytes | None) -> ControlType:
    """Returns the type in a control record's key; later key versions only append fields."""
    if key is None or len(key) < _KEY.size:
        raise CorruptRecordError("a control record without a type")
    version, kind = _KEY.unpack_from(key)
    if version < 0:
        raise CorruptRecordError(f"a control record of version {version}")
    return (
        ControlType(kind)
        if kind in (ControlType.ABORT, ControlType.COMMIT)
        else (ControlType.UNKNOWN)
    )


def decode_end_marker(key: bytes | None, value: bytes | None) -> EndMarker | None:
    """Returns the marker, or None if the control record is not an end marker."""
    kind = decode_control_type(key)
    if kind is ControlType.UNKNOWN:
        return None
    if value is None or len(value) < _VALUE.size:
        raise CorruptRecordError("an end marker without a coordinator epoch")
    return EndMarker(kind, _VALUE.unpack_from(value)[1])
