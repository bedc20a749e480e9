"""A record as the broker reads it: bytes at an offset, without a topic."""

from typing import NamedTuple

from barnabas.model.records import Header


class RawRecord(NamedTuple):
    """One record of one batch; header keys keep undecodable bytes as surrogate escapes."""

    offset: int
    timestamp: int
    key: bytes | None
    value: bytes | None
    headers: tuple[Header, ...] = ()
