"""The two types of records: `Record` for consumers, `RawRecord` for the broker itself.

`Record` is defined beside the decoder that builds it, so that both compile as one unit.
"""

from typing import NamedTuple

from barnabas.model.records import Header
from barnabas.records._record_hot import Record

__all__ = ["RawRecord", "Record"]


class RawRecord(NamedTuple):
    """A record as the broker reads it: without a topic.

    Header keys keep undecodable bytes as surrogate escapes.
    """

    offset: int
    timestamp: int
    key: bytes | None
    value: bytes | None
    headers: tuple[Header, ...] = ()
