"""Where a produced record was stored."""

from typing import NamedTuple


class RecordMetadata(NamedTuple):
    """The broker's answer about one record; offset -1 when none was asked for (acks=0)."""

    topic: str
    partition: int
    offset: int
    timestamp: int
