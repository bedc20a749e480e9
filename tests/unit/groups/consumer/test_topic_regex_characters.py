"""Escapes and classes: which single characters they stand for, and how much text they take."""

import pytest

from barnabas.groups.consumer import topic_regex
from barnabas.groups.consumer.topic_regex import RegexCursor
from barnabas.model.errors import BrokerError

ASCII = [chr(code) for code in range(128)]


def accepted(test):
    return "".join(char for char in ASCII if test(char))


@pytest.mark.parametrize(
    ("text", "chars", "rest"),
    [
        ("ab]c", "ab", "c"),
        ("]a]", "]a", ""),
        ("a-c-]", "-abc", ""),
        (r"\d\-x]", "-0123456789x", ""),
        ("[:lower:]_]", "_abcdefghijklmnopqrstuvwxyz", ""),
        (r"\x30-\x{32}]+", "012", "+"),
        (r"\t]", "\t", ""),
    ],
)
def test_a_class_accepts_its_characters(text, chars, rest):
    cursor = RegexCursor(text)
    assert accepted(topic_regex.char_class(cursor)) == chars
    assert cursor.rest() == rest


@pytest.mark.parametrize(
    ("text", "refused"),
    [
        ("^a-c]", "abc"),
        (r"^\d]", "0123456789"),
        ("^[:^lower:]]", accepted(lambda c: not c.islower())),
    ],
)
def test_a_negated_class_rejects_its_characters(text, refused):
    test = topic_regex.char_class(RegexCursor(text))
    assert accepted(lambda char: not test(char)) == refused


@pytest.mark.parametrize(("text", "chars"), [("s", "\t\n\v\f\r "), (".", "."), ("x41", "A")])
def test_an_escape_stands_for_its_characters(text, chars):
    cursor = RegexCursor(text)
    assert accepted(topic_regex.escape(cursor, cursor.next())) == chars
    assert cursor.at_end


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (r"\A]", r"\\A is not supported in a class"),
        ("[:ascii:]]", "unknown class"),
        ("z-a]", "bad range z-a"),
        (r"\xzz]", "is not a character"),
        ("abc", "ends too early"),
    ],
)
def test_an_invalid_class_is_rejected_with_its_reason(text, why):
    with pytest.raises(BrokerError, match=why):
        topic_regex.char_class(RegexCursor(text))
