"""Invalid requests: mutations of valid frames, by seed and number.

`HostileFrames(seed).frame(number)` depends on its two numbers alone. The number is also the
correlation id of the request, and the broker's log names correlation ids, so a frame that caused a
problem can be made again (from the directory `tests`):

    python -m support.wire.hostile_frames SEED NUMBER
"""

import random
import struct
import sys
from functools import cache
from typing import NamedTuple

from support.network.requests import batch
from support.records.bad_batches import bad_batches
from support.wire import mutations
from support.wire import reference as wire_reference
from support.wire.schemas import Case, all_cases, random_instance

from barnabas.broker.handlers import HANDLERS
from barnabas.wire.headers import request_header_end

TOPIC = "t"
CLIENT_ID = "mutant"
VARIANTS = 12
"""Valid messages of each API and version, before mutation."""
_HEADER_SHARE = 0.03
_WRONG_SIZE_SHARE = 0.004
_SHORT_MS = (-1, 0, 1, 20)
_NAMES = {
    "topic": TOPIC,
    "topic_name": TOPIC,
    "name": TOPIC,
    "topics": TOPIC,
    "topic_names": TOPIC,
    "resource_name": TOPIC,
    "group_id": "g",
    "groups": "g",
    "group_ids": "g",
    "key": "g",
    "coordinator_keys": "g",
    "transactional_id": "x",
    "transactional_ids": "x",
    "protocol_type": "consumer",
}
_PARTITIONS = ("partition", "partition_index", "partition_id", "index", "partitions")


class Subject(NamedTuple):
    """One served version of a request."""

    case: Case
    api_key: int
    version: int


@cache
def subjects():
    """Every version of every API that the broker serves."""
    cases = {
        (case.message.api_key, case.version): case
        for case in all_cases()
        if case.message.kind == "request"
    }
    return tuple(
        Subject(cases[int(handler.api), version], int(handler.api), version)
        for handler in HANDLERS
        for version in range(handler.versions[0], handler.versions[1] + 1)
    )


@cache
def _batches():
    good = [batch(b"x"), batch(b"x", b"y" * 300), batch(b"i", producer_id=1, base_sequence=0)]
    return [bytes(one) for one in (*good, *bad_batches().values())]


def plausible(rng, slot):
    """A value that gets past the first check of a handler, or None for any value."""
    name, kind = slot.field.name, slot.field.type
    if kind == "records":
        return rng.choice(_batches())
    if rng.random() < 0.2:
        return None
    if kind == "string":
        return _NAMES.get(name)
    if kind in ("int32", "int64"):
        if name.endswith("_ms"):
            return rng.choice(_SHORT_MS)
        if name in _PARTITIONS:
            return rng.choice((0, 0, 0, 1))
        if name == "num_partitions":
            return rng.choice((-1, 1, 3))
    if name == "validate_only":
        return rng.random() < 0.8
    return None


class HostileFrames:
    """Frames with their size prefix, each by its number."""

    def __init__(self, seed):
        self._seed = seed
        self._valid = {}

    def frame(self, number):
        rng = random.Random(self._seed << 40 | number)
        subject = rng.choice(subjects())
        encoded = self._encoded(subject, rng.randrange(VARIANTS))
        body = bytes(encoded.data)
        for _ in range(rng.choice((0, 1, 1, 1, 1, 1, 2, 4))):
            body = _mutated(rng, body, encoded.marks)
        head = struct.pack(">hhi", subject.api_key, subject.version, number)
        head += request_header_end(subject.api_key, subject.version, CLIENT_ID)
        if rng.random() < _HEADER_SHARE:
            head = mutations.replace_byte(rng, head)
        size = len(head) + len(body)
        if rng.random() < _WRONG_SIZE_SHARE:
            size = rng.choice((-1, 0, 3, size - 1, size + 1, size + 1000, 2**31 - 1))
        return struct.pack(">i", size) + head + body

    def _encoded(self, subject, variant):
        key = (subject.api_key, subject.version, variant)
        if key not in self._valid:
            rng = random.Random(f"{self._seed} {key}")
            layout = subject.case.layout
            message = random_instance(rng, subject.case.schema.stem, layout, plausible)
            self._valid[key] = wire_reference.encode(layout, message, _unknown_tags(rng))
        return self._valid[key]


def _unknown_tags(rng):
    return {5000: b"later"} if rng.random() < 0.2 else {}


def _mutated(rng, data, marks):
    """One mutation; marks of a frame that was mutated before may point anywhere."""
    marks = [mark for mark in marks if mark[0] + mark[1] <= len(data)]
    choice = rng.random()
    if marks and choice < 0.2:
        return mutations.damage_mark(rng, data, rng.choice(marks))
    if marks and choice < 0.25:
        return mutations.make_null(rng, data, marks)
    if marks and choice < 0.3:
        return mutations.swap_fields(rng, data, marks)
    if marks and choice < 0.34:
        return mutations.repeat_field(rng, data, marks)
    if choice < 0.38:
        return mutations.truncate(rng, data)
    if choice < 0.42:
        return mutations.insert_bytes(rng, data)
    return mutations.replace_byte(rng, data)


if __name__ == "__main__":
    print(HostileFrames(int(sys.argv[1])).frame(int(sys.argv[2])).hex())
