"""Stopping queries, also if one of them does not stop."""

import pytest

from barnabas.streams.run import Running


class Part:
    """A query or a stage that notes its end, or refuses."""

    def __init__(self, name, done, error=None):
        self._name, self._done, self._error = name, done, error

    def stop(self):
        if self._error is not None:
            raise self._error
        self._done.append(self._name)

    close = stop


def test_stop_stops_all_queries_and_raises_the_first_error():
    done = []
    stages = [Part(f"stage {n}", done) for n in range(4)]
    refusals = [RuntimeError("first"), RuntimeError("second")]
    queries = [Part("a", done), Part("b", done, refusals[0]), Part("c", done, refusals[1])]
    with pytest.raises(RuntimeError, match="first"):
        Running("test", stages, queries).stop()
    assert done == ["a", "stage 0", "stage 3"]


def test_a_stage_that_never_started_is_closed():
    done = []
    Running("test", [Part("stage 0", done), Part("stage 1", done)], [Part("a", done)]).stop()
    assert done == ["a", "stage 0", "stage 1"]
