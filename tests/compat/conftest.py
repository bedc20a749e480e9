"""Records that try the corners of the format, for every foreign client."""

import pytest
from support.clients.kafka_python_sockets import close_failed_sockets

close_failed_sockets()

RECORDS = [
    (b"key", b"value", [("header", b"1"), ("empty", b"")], 1_700_000_000_000),
    (None, b"no key", [], 1_700_000_000_001),
    (b"tombstone", None, [], 1_700_000_000_002),
    (b"", b"", [], 1_700_000_000_003),
    (b"\x00\xff" * 50, bytes(range(256)) * 40, [("n", None)], 1_700_000_000_004),
    *(
        (f"k{n}".encode(), f"value {n} ".encode() * 20, [], 1_700_000_001_000 + n)
        for n in range(40)
    ),
]


@pytest.fixture
def records():
    return RECORDS
