import pytest

from barnabas.cli.framework.output import parse_duration, parse_time
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
def test_durations_are_read_in_both_notations(text, seconds):
    assert parse_duration(text) == seconds


@pytest.mark.parametrize("text", ["", "h", "1", "1x", "P", "PT", "1h x", "1h-2m"])
def test_an_invalid_duration_is_rejected(text):
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
def test_times_are_read_as_date_number_or_offset_from_now(text, expected):
    assert parse_time(text, 5_000_000) == expected


@pytest.mark.parametrize("text", ["", "tomorrow", "12345", "2024-13-01"])
def test_an_invalid_time_is_rejected(text):
    with pytest.raises(ConfigError, match="not a time"):
        parse_time(text, 0)
