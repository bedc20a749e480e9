"""Key of a transactional id in __transaction_state.

Generated from schemas/transaction_log_key.msg by codegen; edit that and run it again.
"""

from struct import Struct
from typing import ClassVar

from barnabas.wire.message import FieldSpecs, Message
from barnabas.wire.primitives import (
    Part,
    new,
    overrun,
    unexpected_null,
)

_pack_h = Struct(">h").pack
_unpack_h = Struct(">h").unpack_from


class TransactionLogKey(Message):
    __slots__ = (
        "transactional_id",
    )
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int] = 32767
    FIELDS: ClassVar[FieldSpecs] = (
        ("transactional_id", "string", 0, 0, False),
    )

    def __init__(
        self,
        transactional_id: str = "",
    ) -> None:
        self.transactional_id = transactional_id


def _decode_transaction_log_key_v0(buf: memoryview, pos: int, end: int, budget: list[int]) -> TransactionLogKey:
    o = new(TransactionLogKey)
    (n,) = _unpack_h(buf, pos)
    pos += 2
    if n < 0:
        raise unexpected_null(pos, "transactional_id")
    q = pos + n
    if q > end:
        raise overrun(pos, n)
    o.transactional_id = str(buf[pos:q], "utf-8")
    pos = q
    return o


def _encode_transaction_log_key_v0(o: TransactionLogKey) -> list[Part]:
    out = bytearray()
    s = o.transactional_id.encode()
    n = len(s)
    out += _pack_h(n)
    out += s
    return [out]


TransactionLogKey.DECODERS = {
    0: _decode_transaction_log_key_v0,
}
TransactionLogKey.ENCODERS = {
    0: _encode_transaction_log_key_v0,
}
