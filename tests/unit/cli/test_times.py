import pytest

from barnabas.cli.framework.output import iso_time, parse_duration, parse_time
from barnabas.model.errors import ConfigError


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("90s", 90),
        ("1h30m", 5400),
        ("2w", 1_209_600),
        ("250ms", 0.25),
        ("1.5h", 5400),
        ("PT1H", 3600),
        ("P7D", 604_800),
        ("-PT30M", -1800),
        ("PT0.5S", 0.5),
    ],
)
def test_durations(text, seconds):
    assert parse_duration(text) == seconds


@pytest.mark.parametrize("text", ["", "h", "1", "1x", "P", "PT", "1h x", "1h-2m"])
def test_what_is_no_duration(text):
    with pytest.raises(ConfigError, match="not a duration"):
        parse_duration(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("now", 5_000_000),
        ("-1s", 4_999_000),
        ("1700000000", 1_700_000_000_000),
        ("1700000000123", 1_700_000_000_123),
        ("1970-01-01T01:00:00+01:00", 0),
        ("1970-01-01T00:00:01", 1000),
    ],
)
def test_times(text, expected):
    assert parse_time(text, 5_000_000) == expected


@pytest.mark.parametrize("text", ["", "tomorrow", "12345", "2024-13-01"])
def test_what_is_no_time(text):
    with pytest.raises(ConfigError, match="not a time"):
        parse_time(text, 0)


def test_iso():
    assert iso_time(1_700_000_000_123) == "2023-11-14T22:13:20.123Z"
    assert iso_time(-1) is None
    assert iso_time(None) is None
