"""Topic, partition, offset and timestamp of a produced record."""

from typing import NamedTuple


class RecordMetadata(NamedTuple):
    """Partition and offset of a stored record; the offset is -1 with acks=0."""

    topic: str
    partition: int
    offset: int
    timestamp: int
