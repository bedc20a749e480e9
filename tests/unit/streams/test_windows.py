"""Windows and durations, valid and invalid."""

from datetime import timedelta

import pytest

from barnabas.model.errors import ConfigError
from barnabas.streams.windows import Shape, hopping, milliseconds, session, sliding, tumbling


def test_each_function_returns_its_window():
    assert tumbling("1 minute", grace="10 s").grace_ms == 10_000
    assert hopping(10, 5).advance_ms == 5000
    assert session(timedelta(seconds=3)).shape is Shape.SESSION
    assert str(sliding("2 s")) == "sliding 2000 ms"


@pytest.mark.parametrize(
    ("text", "wanted"), [("5 minutes", 300_000), ("1h 30s", 3_630_000), ("250 ms", 250)]
)
def test_durations_are_read_in_milliseconds(text, wanted):
    assert milliseconds(text) == wanted


@pytest.mark.parametrize("text", ["", "five minutes", "5", "5 fortnights", "-5 s"])
def test_an_invalid_duration_is_rejected(text):
    with pytest.raises(ConfigError, match="is not a duration"):
        milliseconds(text)


def test_an_invalid_window_is_rejected():
    with pytest.raises(ConfigError, match="advance by more"):
        hopping("1 s", "2 s")
    with pytest.raises(ConfigError, match="must be above 0"):
        tumbling(0)
