"""A record as the broker sees it: bytes at an offset, with no topic around it."""

from typing import NamedTuple

from barnabas.model.records import Header


class RawRecord(NamedTuple):
    """One record of one batch; header keys keep undecodable bytes as surrogate escapes."""

    offset: int
    timestamp: int
    key: bytes | None
    value: bytes | None
    headers: tuple[Header, ...] = ()
