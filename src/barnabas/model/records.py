"""Small types of records, offsets and group membership that several layers share."""

import enum
from typing import NamedTuple

Header = tuple[str, bytes | None]
NO_TIMESTAMP = -1
NO_SEQUENCE = -1
NO_EPOCH = -1

# Timestamps with a special meaning in ListOffsets.
LATEST_TIMESTAMP = -1
EARLIEST_TIMESTAMP = -2
MAX_TIMESTAMP = -3
EARLIEST_LOCAL_TIMESTAMP = -4
LATEST_TIERED_TIMESTAMP = -5
EARLIEST_PENDING_UPLOAD_TIMESTAMP = -6


class Codec(enum.IntEnum):
    """Compression of a batch: bits 0-2 of its attributes."""

    NONE = 0
    GZIP = 1
    SNAPPY = 2
    LZ4 = 3
    ZSTD = 4


class TimestampType(enum.IntEnum):
    """Bit 3 of the attributes: whether producer or broker set the timestamps."""

    CREATE_TIME = 0
    LOG_APPEND_TIME = 1


class IsolationLevel(enum.IntEnum):
    """Which records a reader receives."""

    READ_UNCOMMITTED = 0
    READ_COMMITTED = 1


class GroupMetadata(NamedTuple):
    """Membership of a consumer in its group, as `Consumer.group_metadata()` returns it."""

    group_id: str
    generation_id: int = -1
    member_id: str = ""
    group_instance_id: str | None = None


class OffsetAndMetadata(NamedTuple):
    """A committed offset: the next offset to read, with a text of the application.

    `leader_epoch` is the epoch of the last record before the offset, -1 if unknown. Brokers use it
    to detect that the log was truncated.
    """

    offset: int
    metadata: str = ""
    leader_epoch: int = -1
