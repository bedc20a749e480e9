"""Transactional ids of a coordinator, by state, producer or age.

Generated from schemas/list_transactions.msg by codegen; edit that and run it again.
"""

from collections.abc import Sequence
from struct import Struct
from typing import ClassVar

from barnabas.wire.message import FieldSpecs, Message, Request, WireStruct
from barnabas.wire.primitives import (
    EMPTY,
    Part,
    UVARINTS,
    int_elements,
    long_string_length,
    new,
    over_budget,
    overrun,
    read_compact_strings,
    read_ints,
    read_long_string_length,
    read_long_uvarint,
    skip_tags,
    too_many,
    unexpected_null,
    uvarint,
    write_compact_strings,
)

_pack_ih = Struct(">ih").pack
_pack_q = Struct(">q").pack
_unpack_ih = Struct(">ih").unpack_from
_unpack_q = Struct(">q").unpack_from


class TransactionState(WireStruct):
    __slots__ = (
        "transactional_id",
        "producer_id",
        "transaction_state",
    )
    FIELDS: ClassVar[FieldSpecs] = (
        ("transactional_id", "string", 0, 2, False),
        ("producer_id", "int64", 0, 2, False),
        ("transaction_state", "string", 0, 2, False),
    )

    def __init__(
        self,
        transactional_id: str = "",
        producer_id: int = 0,
        transaction_state: str = "",
    ) -> None:
        self.transactional_id = transactional_id
        self.producer_id = producer_id
        self.transaction_state = transaction_state


class ListTransactionsRequest(Request["ListTransactionsResponse"]):
    __slots__ = (
        "state_filters",
        "producer_id_filters",
        "duration_filter",
        "transactional_id_pattern",
    )
    API_KEY: ClassVar[int] = 66
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 2
    FLEXIBLE_FROM: ClassVar[int] = 0
    FIELDS: ClassVar[FieldSpecs] = (
        ("state_filters", "[string]", 0, 2, False),
        ("producer_id_filters", "[int64]", 0, 2, False),
        ("duration_filter", "int64", 1, 2, False),
        ("transactional_id_pattern", "string", 2, 2, True),
    )

    def __init__(
        self,
        state_filters: list[str] = EMPTY,
        producer_id_filters: list[int] = EMPTY,
        duration_filter: int = -1,
        transactional_id_pattern: str | None = None,
    ) -> None:
        self.state_filters = [] if state_filters is EMPTY else state_filters  # empty for all
        self.producer_id_filters = [] if producer_id_filters is EMPTY else producer_id_filters  # empty for all
        self.duration_filter = duration_filter  # only transactions open longer than this; -1 for all
        self.transactional_id_pattern = transactional_id_pattern  # regular expression (KIP-1152)


class ListTransactionsResponse(Message):
    __slots__ = (
        "throttle_time_ms",
        "error_code",
        "unknown_state_filters",
        "transaction_states",
    )
    API_KEY: ClassVar[int] = 66
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 2
    FLEXIBLE_FROM: ClassVar[int] = 0
    FIELDS: ClassVar[FieldSpecs] = (
        ("throttle_time_ms", "int32", 0, 2, False),
        ("error_code", "int16", 0, 2, False),
        ("unknown_state_filters", "[string]", 0, 2, False),
        ("transaction_states", "[TransactionState]", 0, 2, False),
    )

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        unknown_state_filters: list[str] = EMPTY,
        transaction_states: list[TransactionState] = EMPTY,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.unknown_state_filters = [] if unknown_state_filters is EMPTY else unknown_state_filters
        self.transaction_states = [] if transaction_states is EMPTY else transaction_states


def _decode_list_transactions_request_v0(buf: memoryview, pos: int, end: int, budget: list[int]) -> ListTransactionsRequest:
    o = new(ListTransactionsRequest)
    o.duration_filter = -1
    o.transactional_id_pattern = None
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_long_uvarint(buf, pos)
    n -= 1
    if n < 0:
        raise unexpected_null(pos, "state_filters")
    o.state_filters, pos = read_compact_strings(buf, pos, end, n, budget)
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_long_uvarint(buf, pos)
    n -= 1
    if n < 0:
        raise unexpected_null(pos, "producer_id_filters")
    o.producer_id_filters, pos = read_ints(buf, pos, end, n, "q", budget)
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tags(buf, pos, end)
    return o


def _encode_list_transactions_request_v0(o: ListTransactionsRequest) -> list[Part]:
    out = bytearray()
    n = len(o.state_filters) + 1
    out += UVARINTS[n] if n < 128 else uvarint(n)
    write_compact_strings(out, o.state_filters)
    n = len(o.producer_id_filters) + 1
    out += UVARINTS[n] if n < 128 else uvarint(n)
    out += int_elements(o.producer_id_filters, "q")
    out.append(0)
    return [out]


def _decode_list_transactions_request_v1(buf: memoryview, pos: int, end: int, budget: list[int]) -> ListTransactionsRequest:
    o = new(ListTransactionsRequest)
    o.transactional_id_pattern = None
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_long_uvarint(buf, pos)
    n -= 1
    if n < 0:
        raise unexpected_null(pos, "state_filters")
    o.state_filters, pos = read_compact_strings(buf, pos, end, n, budget)
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_long_uvarint(buf, pos)
    n -= 1
    if n < 0:
        raise unexpected_null(pos, "producer_id_filters")
    o.producer_id_filters, pos = read_ints(buf, pos, end, n, "q", budget)
    (o.duration_filter,) = _unpack_q(buf, pos)
    pos += 8
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tags(buf, pos, end)
    return o


def _encode_list_transactions_request_v1(o: ListTransactionsRequest) -> list[Part]:
    out = bytearray()
    n = len(o.state_filters) + 1
    out += UVARINTS[n] if n < 128 else uvarint(n)
    write_compact_strings(out, o.state_filters)
    n = len(o.producer_id_filters) + 1
    out += UVARINTS[n] if n < 128 else uvarint(n)
    out += int_elements(o.producer_id_filters, "q")
    out += _pack_q(o.duration_filter)
    out.append(0)
    return [out]


def _decode_list_transactions_request_v2(buf: memoryview, pos: int, end: int, budget: list[int]) -> ListTransactionsRequest:
    o = new(ListTransactionsRequest)
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_long_uvarint(buf, pos)
    n -= 1
    if n < 0:
        raise unexpected_null(pos, "state_filters")
    o.state_filters, pos = read_compact_strings(buf, pos, end, n, budget)
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_long_uvarint(buf, pos)
    n -= 1
    if n < 0:
        raise unexpected_null(pos, "producer_id_filters")
    o.producer_id_filters, pos = read_ints(buf, pos, end, n, "q", budget)
    (o.duration_filter,) = _unpack_q(buf, pos)
    pos += 8
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_long_string_length(buf, pos)
    n -= 1
    if n < 0:
        o.transactional_id_pattern = None
    else:
        q = pos + n
        if q > end:
            raise overrun(pos, n)
        o.transactional_id_pattern = str(buf[pos:q], "utf-8")
        pos = q
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tags(buf, pos, end)
    return o


def _encode_list_transactions_request_v2(o: ListTransactionsRequest) -> list[Part]:
    out = bytearray()
    n = len(o.state_filters) + 1
    out += UVARINTS[n] if n < 128 else uvarint(n)
    write_compact_strings(out, o.state_filters)
    n = len(o.producer_id_filters) + 1
    out += UVARINTS[n] if n < 128 else uvarint(n)
    out += int_elements(o.producer_id_filters, "q")
    out += _pack_q(o.duration_filter)
    if o.transactional_id_pattern is None:
        out.append(0)
    else:
        s = o.transactional_id_pattern.encode()
        n = len(s) + 1
        out += UVARINTS[n] if n < 128 else long_string_length(n)
        out += s
    out.append(0)
    return [out]


def _read_transaction_state_v0(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[TransactionState], int]:
    if count * 11 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 216
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[TransactionState] = []
    for _ in range(count):
        o = new(TransactionState)
        n = buf[pos]
        pos += 1
        if n > 127:
            n, pos = read_long_string_length(buf, pos)
        n -= 1
        if n < 0:
            raise unexpected_null(pos, "transactional_id")
        q = pos + n
        if q > end:
            raise overrun(pos, n)
        o.transactional_id = str(buf[pos:q], "utf-8")
        pos = q
        (o.producer_id,) = _unpack_q(buf, pos)
        pos += 8
        n = buf[pos]
        pos += 1
        if n > 127:
            n, pos = read_long_string_length(buf, pos)
        n -= 1
        if n < 0:
            raise unexpected_null(pos, "transaction_state")
        q = pos + n
        if q > end:
            raise overrun(pos, n)
        o.transaction_state = str(buf[pos:q], "utf-8")
        pos = q
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tags(buf, pos, end)
        items.append(o)
    return items, pos


def _decode_list_transactions_response_v0(buf: memoryview, pos: int, end: int, budget: list[int]) -> ListTransactionsResponse:
    o = new(ListTransactionsResponse)
    o.throttle_time_ms, o.error_code = _unpack_ih(buf, pos)
    pos += 6
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_long_uvarint(buf, pos)
    n -= 1
    if n < 0:
        raise unexpected_null(pos, "unknown_state_filters")
    o.unknown_state_filters, pos = read_compact_strings(buf, pos, end, n, budget)
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_long_uvarint(buf, pos)
    n -= 1
    if n < 0:
        raise unexpected_null(pos, "transaction_states")
    o.transaction_states, pos = _read_transaction_state_v0(buf, pos, end, n, budget)
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tags(buf, pos, end)
    return o


def _write_transaction_state_v0(
    out: bytearray, items: Sequence[TransactionState]
) -> None:
    for o in items:
        s = o.transactional_id.encode()
        n = len(s) + 1
        out += UVARINTS[n] if n < 128 else long_string_length(n)
        out += s
        out += _pack_q(o.producer_id)
        s = o.transaction_state.encode()
        n = len(s) + 1
        out += UVARINTS[n] if n < 128 else long_string_length(n)
        out += s
        out.append(0)


def _encode_list_transactions_response_v0(o: ListTransactionsResponse) -> list[Part]:
    out = bytearray()
    out += _pack_ih(o.throttle_time_ms, o.error_code)
    n = len(o.unknown_state_filters) + 1
    out += UVARINTS[n] if n < 128 else uvarint(n)
    write_compact_strings(out, o.unknown_state_filters)
    n = len(o.transaction_states) + 1
    out += UVARINTS[n] if n < 128 else uvarint(n)
    _write_transaction_state_v0(out, o.transaction_states)
    out.append(0)
    return [out]


ListTransactionsRequest.DECODERS = {
    0: _decode_list_transactions_request_v0,
    1: _decode_list_transactions_request_v1,
    2: _decode_list_transactions_request_v2,
}
ListTransactionsRequest.ENCODERS = {
    0: _encode_list_transactions_request_v0,
    1: _encode_list_transactions_request_v1,
    2: _encode_list_transactions_request_v2,
}
ListTransactionsResponse.DECODERS = {
    0: _decode_list_transactions_response_v0,
    1: _decode_list_transactions_response_v0,
    2: _decode_list_transactions_response_v0,
}
ListTransactionsResponse.ENCODERS = {
    0: _encode_list_transactions_response_v0,
    1: _encode_list_transactions_response_v0,
    2: _encode_list_transactions_response_v0,
}
