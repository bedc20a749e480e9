"""Java property files."""

import pytest

from barnabas.model.errors import ConfigError
from barnabas.model.properties import parse_properties, render_properties


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
        ("# ends in a backslash \\\na=1", {"a": "1"}),
        ("a=x\\\n# not a comment", {"a": "x# not a comment"}),
        ("\\\n# not a comment", {"#": "not a comment"}),
        ("a=1\u20282\x0c3", {"a": "1\u20282\x0c3"}),
    ],
)
def test_properties_are_parsed_by_the_rules_of_java(text, expected):
    assert parse_properties(text) == expected


def test_render_is_read_back():
    values = {"a": "1", "a b=c:": "C:\\dir\n", "spaces": "  x  ", "empty": "", "#k": "#v"}
    assert parse_properties(render_properties(values)) == values


def test_a_malformed_unicode_escape_is_named():
    with pytest.raises(ConfigError, match=r"u12x: four hexadecimal digits"):
        parse_properties(r"a=\u12x")
