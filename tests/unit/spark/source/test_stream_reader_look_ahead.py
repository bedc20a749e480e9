"""Look-ahead offsets are used only if newer ones would not change the micro-batch."""

import threading

import pytest

from barnabas.model.errors import ClosedError, DeadlineError
from barnabas.model.ids import TopicPartition
from barnabas.spark.source import stream_reader
from barnabas.spark.source.planner import ClusterView
from barnabas.spark.source.stream_reader import LookAhead

A, B = TopicPartition("a", 0), TopicPartition("a", 1)


@pytest.fixture(autouse=True)
def _at_once(monkeypatch):
    monkeypatch.setattr(stream_reader, "YIELD_SECONDS", 0)


def view(**ends):
    return ClusterView({A: ends["a"], B: ends["b"]}, {})


def test_a_large_backlog_uses_the_requested_offsets_once():
    seen = view(a=15, b=5)
    ahead = LookAhead(lambda: seen, 10)
    ahead.begin()
    ahead.begin()
    assert ahead.take({A: 8, B: 2}) is seen
    assert ahead.take({A: 8, B: 2}) is None


@pytest.mark.parametrize(
    "start",
    [
        pytest.param({A: 9, B: 2}, id="too little"),
        pytest.param({A: 0}, id="another partition"),
        pytest.param({A: 16, B: -100}, id="a log that was cut back"),
    ],
)
def test_other_ranges_are_fetched_again(start):
    ahead = LookAhead(lambda: view(a=15, b=5), 10)
    ahead.begin()
    assert ahead.take(start) is None


def test_no_look_ahead_without_a_limit():
    asked = []
    ahead = LookAhead(lambda: asked.append(1), None)
    ahead.begin()
    assert ahead.take({}) is None
    assert not asked


def test_an_error_and_an_old_view_are_discarded(monkeypatch):
    def fail():
        raise DeadlineError("nobody there")

    ahead = LookAhead(fail, 1)
    ahead.begin()
    assert ahead.take({A: 0, B: 0}) is None
    monkeypatch.setattr(stream_reader, "FRESH_SECONDS", -1)
    ahead = LookAhead(lambda: view(a=15, b=5), 1)
    ahead.begin()
    assert ahead.take({A: 0, B: 0}) is None


def test_close_waits_for_the_request_in_flight():
    asked, closed, ended = threading.Event(), threading.Event(), threading.Event()

    def ask():
        asked.set()
        closed.wait(10)
        ended.set()
        raise ClosedError("the client is closed")

    ahead = LookAhead(ask, 1)
    ahead.begin()
    assert asked.wait(10)
    closed.set()
    ahead.close()
    assert ended.is_set()
    assert ahead.take({A: 0, B: 0}) is None
