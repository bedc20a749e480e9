"""The reaction to a record whose handler fails: stop, retry, skip or dead letter."""

import pytest

from barnabas.clients.group.failures import FailurePolicy, ProcessingError
from barnabas.clients.group.process import route_by
from barnabas.model.errors import BarnabasError, LocalError
from barnabas.records.record import Record

RECORD = Record("t", 2, 7, 99, key=b"k", value=b"v", headers=(("h", b"1"),))


class Letters:
    def __init__(self, error=None):
        self.sent = []
        self._error = error

    def send(self, topic, value=None, key=None, headers=(), partition=None, timestamp=None):
        self.sent.append((topic, value, key, list(headers)))
        self.timestamp = timestamp
        return self

    def result(self, timeout):
        if self._error is not None:
            raise self._error


def policy(on_error, retries=0, producer=None, topic=None):
    return FailurePolicy(on_error, retries, 0.5, producer, topic)


def failing(times):
    calls = []

    def handler(record):
        calls.append(record)
        if len(calls) <= times:
            raise ValueError(f"try {len(calls)}")

    return handler, calls


def test_stop_raises_with_the_cause():
    handler, _ = failing(1)
    with pytest.raises(ProcessingError, match="t-2 at offset 7") as error:
        policy("stop", retries=5).handle(handler, RECORD, lambda seconds: None)
    assert isinstance(error.value.__cause__, ValueError)
    assert error.value.record is RECORD


def test_retry_pauses_longer_each_time_then_stops():
    pauses = []
    handler, calls = failing(2)
    policy("retry", retries=2).handle(handler, RECORD, pauses.append)
    assert (len(calls), pauses) == (3, [0.5, 1.0])
    handler, calls = failing(9)
    with pytest.raises(ProcessingError):
        policy("retry", retries=2).handle(handler, RECORD, pauses.append)
    assert len(calls) == 3


def test_skip_goes_on():
    handler, calls = failing(9)
    policy("skip", retries=3).handle(handler, RECORD, lambda seconds: None)
    assert len(calls) == 1


def test_a_dead_letter_names_the_reason():
    letters = Letters()
    handler, _ = failing(9)
    policy("dlq", producer=letters).handle(handler, RECORD, lambda seconds: None)
    topic, value, key, headers = letters.sent[0]
    assert (topic, value, key) == ("t.dlq", b"v", b"k")
    assert letters.timestamp == 99
    assert headers == [
        ("h", b"1"),
        ("dlq.topic", b"t"),
        ("dlq.partition", b"2"),
        ("dlq.offset", b"7"),
        ("dlq.timestamp", b"99"),
        ("dlq.error.class", b"ValueError"),
        ("dlq.error.message", b"try 1"),
    ]


def test_a_dead_letter_that_is_not_stored_does_not_count():
    handler, _ = failing(9)
    letters = Letters(BarnabasError("no room"))
    with pytest.raises(ProcessingError):
        policy("dlq", producer=letters, topic="x").handle(handler, RECORD, lambda seconds: None)


def test_wrong_policies_are_named():
    with pytest.raises(LocalError, match="must be one of"):
        policy("ignore")
    with pytest.raises(LocalError, match="producer="):
        policy("dlq")
    with pytest.raises(LocalError, match="partition"):
        route_by("topic", 2)


def test_records_of_one_partition_or_key_go_to_one_worker():
    by_partition, by_key = route_by("partition", 7), route_by("key", 7)
    assert len({by_partition(Record("t", 1, n, key=b"%d" % n)) for n in range(50)}) == 1
    assert len({by_key(Record("t", n % 5, n, key=b"k")) for n in range(50)}) == 1
    assert len({by_key(Record("t", 1, n)) for n in range(50)}) == 7
