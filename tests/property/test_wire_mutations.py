"""Hostile bytes: every decoder either reads them or raises ProtocolError, in bounded memory.

Mutations aim at what steers a decoder: lengths, counts, tags, null markers, and the end. The
number is for every run of the suite; BARNABAS_MUTATIONS raises it for a soak.
"""

import os
import random
import tracemalloc

import pytest
from support.wire import reference as wire_reference
from support.wire.mutations import damage_mark, insert_bytes, replace_byte, truncate
from support.wire.schemas import all_cases, case, random_instance

from barnabas.model.errors import ProtocolError
from barnabas.wire.headers import decode_request_header, decode_response_header

MUTATIONS = int(os.environ.get("BARNABAS_MUTATIONS", "200000"))
SHARDS = 4
BYTES_PER_BYTE = 80
"""Python objects a hostile byte may buy: an empty string in a list costs 8, a small struct 60."""


def mutants(rng: random.Random, encoded: wire_reference.Encoded):
    """Damaged copies without end."""
    data, marks = bytes(encoded.data), encoded.marks
    while True:
        choice = rng.random()
        if marks and choice < 0.6:
            yield damage_mark(rng, data, rng.choice(marks))
        elif choice < 0.75:
            yield truncate(rng, data)
        elif data and choice < 0.95:
            yield replace_byte(rng, data)
        else:
            yield insert_bytes(rng, data)


@pytest.mark.parametrize("shard", range(SHARDS))
def test_only_protocol_errors_escape(shard):
    rng = random.Random(f"mutations {shard}")
    subjects = all_cases()[shard::SHARDS]
    each = -(-MUTATIONS // len(all_cases()))
    refused = 0
    for subject in subjects:
        layout = subject.layout
        for start in range(0, each, 25):
            instance = random_instance(rng, subject.schema.stem, layout)
            stream = mutants(rng, wire_reference.encode(layout, instance, {5: b"later"}))
            for _ in range(min(25, each - start)):
                refused += _is_refused(subject, next(stream))
    # A test whose mutants all pass, or all fail at once, would prove nothing.
    assert 0.2 < refused / (each * len(subjects)) < 0.9


def _is_refused(subject, data: bytes) -> bool:
    try:
        decoded = subject.cls.decode(memoryview(data), subject.version)
    except ProtocolError:
        return True
    decoded.encode(subject.version)
    return False


@pytest.mark.parametrize("name", ["MetadataRequest", "FetchRequest", "LeaderAndIsrRequest"])
def test_memory_is_bounded_by_the_bytes_that_came(name):
    """Huge counts with nothing, or with the cheapest elements, behind them."""
    rng = random.Random(name)
    for subject in (c for c in all_cases() if c.message.body.name == name):
        layout = subject.layout
        instance = random_instance(rng, subject.schema.stem, layout)
        encoded = wire_reference.encode(layout, instance)
        for mark in encoded.marks:
            for _ in range(4):
                data = damage_mark(rng, bytes(encoded.data), mark) + bytes(20_000)
                assert _peak_of(subject, data) < BYTES_PER_BYTE * len(data)


def _peak_of(subject, data: bytes) -> int:
    cls, view = subject.cls, memoryview(data)
    tracemalloc.start()
    try:
        cls.decode(view, subject.version)
    except ProtocolError:
        pass
    finally:
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    return peak


@pytest.mark.parametrize(
    ("name", "version", "count_at", "count"),
    [
        ("MetadataRequest", 4, 0, b"\x7f\xff\xff\xff"),
        ("MetadataRequest", 9, 0, b"\xff\xff\xff\xff\x0f"),
        ("DeleteTopicsRequest", 4, 0, b"\xff\xff\xff\xff\x07"),
        ("ApiVersionsRequest", 3, 2, b"\xff\xff\xff\xff\x0f"),
    ],
)
def test_a_huge_count_allocates_nothing(name, version, count_at, count):
    subject = case(name, version)
    data = b"\1" * count_at + count + bytes(8)
    assert _peak_of(subject, data) < 20_000
    with pytest.raises(ProtocolError):
        subject.cls.decode(memoryview(data), version)


def test_headers_take_any_bytes():
    """Passes when decoding raises only ProtocolError."""
    rng = random.Random("headers")
    for _ in range(20_000):
        data = rng.randbytes(rng.randrange(24))
        key = rng.choice((0, 3, 7, 18, 68, 9999))
        prefixed = key.to_bytes(2, "big") + rng.choice((0, 3, 9, 12)).to_bytes(2, "big") + data
        for attempt in (
            lambda view: decode_request_header(view),
            lambda view, key=key: decode_response_header(view, key, 12),
        ):
            try:
                attempt(memoryview(prefixed))
            except ProtocolError:
                continue
