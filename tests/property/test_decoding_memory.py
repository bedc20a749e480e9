"""The decoding budget covers the memory that decoding takes, for every message.

Each array of each message is filled with as many of the smallest elements as fit into the frame:
empty strings, empty arrays, nulls. Memory is measured, not estimated.
"""

import importlib
import tracemalloc

import pytest

from barnabas.model.errors import DecodingBudgetError, LocalError
from barnabas.wire.api_keys import request_class, response_class
from barnabas.wire.message import decoding_budget
from barnabas.wire.messages.index import MODULES

FRAME_BYTES = 4 * 1024
ATTEMPTS = 5
MESSAGES = [kind(api) for api in sorted(MODULES) for kind in (request_class, response_class)]


def smallest(kind, version, *, inner):
    """An element of an array: null or empty where possible, nested arrays of `inner` elements."""
    module = importlib.import_module(kind.__module__)
    made = kind()
    for name, type_name, low, high, nullable in kind.FIELDS:
        if not low <= version <= high or not type_name.startswith("["):
            continue
        element = getattr(module, type_name.strip("[]"), None)
        if element is not None and inner:
            setattr(made, name, [smallest(element, version, inner=inner)] * inner)
        elif nullable and not inner:
            setattr(made, name, None)
    return made


def arrays(kind, version):
    module = importlib.import_module(kind.__module__)
    for name, type_name, low, high, _ in kind.FIELDS:
        if low <= version <= high and type_name.startswith("["):
            yield name, getattr(module, type_name.strip("[]"), None), type_name


def encoded(message, version):
    return b"".join(bytes(part) for part in message.encode(version))


def hostile_bodies(kind, version):
    for name, element, type_name in arrays(kind, version):
        for inner in (0, 2):
            item = "" if type_name == "[string]" else 70_000 if element is None else None
            if type_name in ("[int8]", "[int16]"):
                item = 1
            if element is not None:
                item = smallest(element, version, inner=inner)
            message = kind()
            try:
                setattr(message, name, [item] * 100)
                size = (len(encoded(message, version)) + 99) // 100
                setattr(message, name, [item] * (FRAME_BYTES // size))
                yield encoded(message, version)
            except LocalError:
                continue  # null is not allowed in this version


def measured(kind, version, body):
    """Peak memory of decoding, and what the decoder took from its budget.

    tracemalloc counts all threads, and earlier tests may have left a broker in this process. Other
    threads only add to the peak, so the smallest of several measurements is the decoder's own.
    """
    peaks = []
    for _ in range(ATTEMPTS):
        peak, spent = measured_once(kind, version, body)
        peaks.append(peak)
        if peak <= allowed(spent):
            break
    return min(peaks), spent


def allowed(spent):
    return 1.3 * spent + 4096


def measured_once(kind, version, body):
    budget = [1 << 40]
    view = memoryview(body)
    tracemalloc.start()
    try:
        kind.DECODERS[version](view, 0, len(view), budget)
    finally:
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    return peak, (1 << 40) - budget[0]


@pytest.mark.parametrize("kind", MESSAGES, ids=[kind.__name__ for kind in MESSAGES])
def test_the_budget_covers_the_memory_that_decoding_takes(kind):
    for version in {kind.MIN_VERSION, kind.FLEXIBLE_FROM, kind.MAX_VERSION}:
        if not kind.MIN_VERSION <= version <= kind.MAX_VERSION:
            continue
        for body in hostile_bodies(kind, version):
            peak, spent = measured(kind, version, body)
            assert peak <= allowed(spent), (version, len(body), peak, spent)


def test_a_megabyte_of_empty_names_is_rejected_before_it_is_decoded():
    kind = request_class(3)
    count = 500_000
    body = count.to_bytes(4, "big") + bytes(2 * count)
    tracemalloc.start()
    with pytest.raises(DecodingBudgetError, match="exceed the memory"):
        kind.decode(memoryview(body), 1)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1 << 20
    assert count * 100 > decoding_budget(len(body))
