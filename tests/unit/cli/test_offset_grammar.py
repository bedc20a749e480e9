import pytest

from barnabas.cli.record_io.selection import END, START, Bound, BoundKind, parse_range
from barnabas.model.errors import ConfigError

NOW = 1_700_000_000_000
HOUR = 3_600_000


def at(value):
    return Bound(BoundKind.TIME, value)


def offset(value):
    return Bound(BoundKind.OFFSET, value)


@pytest.mark.parametrize(
    ("word", "start", "stop"),
    [
        ("start", START, None),
        ("earliest", START, None),
        ("end", END, None),
        (":end", START, END),
        ("0", offset(0), None),
        ("10:20", offset(10), offset(20)),
        (":5", START, offset(5)),
        ("5:", offset(5), None),
        ("+5", Bound(BoundKind.AFTER_START, 5), None),
        ("-5:end", Bound(BoundKind.BEFORE_END, 5), END),
        ("committed", Bound(BoundKind.COMMITTED), None),
        ("@-1h", at(NOW - HOUR), None),
        ("@-2h:-1h", at(NOW - 2 * HOUR), at(NOW - HOUR)),
        ("@1700000000000", at(NOW), None),
        ("@2023-11-14T22:13:20Z:end", at(NOW), END),
        ("@2023-11-14", at(1_699_920_000_000), None),
    ],
)
def test_words_and_numbers_are_read_as_ranges(word, start, stop):
    parsed = parse_range(word, NOW)
    assert (parsed.start, parsed.stop) == (start, stop)


@pytest.mark.parametrize(
    "word", ["", ":", "x", "1:x", "x:1", "--5", "1.5", "@", "@x", "@12:99", "\u0661", "+", "-"]
)
def test_an_unknown_word_is_rejected(word):
    with pytest.raises(ConfigError):
        parse_range(word, NOW)


@pytest.mark.parametrize("word", ["8:5", "+8:+5", "-5:-8", "@2024-05-02:2024-05-01"])
def test_range_that_ends_before_it_starts_is_rejected(word):
    with pytest.raises(ConfigError, match="the range ends before it starts"):
        parse_range(word, NOW)


@pytest.mark.parametrize("word", ["5:5", "+5:8", "-8:-5", "-5:end", "9:-5"])
def test_range_that_may_have_records_is_accepted(word):
    assert parse_range(word, NOW).stop is not None
