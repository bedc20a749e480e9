"""Java property files."""

import pytest

from barnabas.broker.properties import parse_properties


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a=1", {"a": "1"}),
        ("  a : 1 ", {"a": "1 "}),
        ("a 1", {"a": "1"}),
        ("a", {"a": ""}),
        ("# c\n! d\n\na=1\r\nb=2", {"a": "1", "b": "2"}),
        ("a=1\\\n  2\\\n3", {"a": "123"}),
        ("a=1\\\\\nb=2", {"a": "1\\", "b": "2"}),
        (r"a\=b=c\u0041\n", {"a=b": "cA\n"}),
        ("listeners=PLAINTEXT://:9092", {"listeners": "PLAINTEXT://:9092"}),
        ("a=1\na=2", {"a": "2"}),
    ],
)
def test_parse(text, expected):
    assert parse_properties(text) == expected
