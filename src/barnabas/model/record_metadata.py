"""Topic, partition, offset and timestamp of a produced record."""

from typing import NamedTuple


class RecordMetadata(NamedTuple):
    """Where a record is stored, and its timestamp in milliseconds; with acks=0 the offset is -1."""

    topic: str
    partition: int
    offset: int
    timestamp: int
