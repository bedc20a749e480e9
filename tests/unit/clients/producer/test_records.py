"""The error for an invalid record names the arguments of `send()`."""

import pytest

from barnabas.clients.producer.records import as_headers, as_timestamp, explain_mistake
from barnabas.model.errors import LocalError

WANTED = r"headers must be pairs of a name and bytes or str, such as \[\('source', b'web'\)\], not "


@pytest.mark.parametrize(
    ("headers", "wrong"),
    [
        ({"a": 1}, r"\('a', 1\)"),
        ([("a", 1)], r"\('a', 1\)"),
        ([("a", b"1"), "b"], "'b'"),
        (["ab"], "'ab'"),
        ([(1, b"1")], r"\(1, b'1'\)"),
        ("a=1", "'a=1'"),
        (7, "7"),
    ],
)
def test_headers_of_another_shape(headers, wrong):
    with pytest.raises(TypeError, match=WANTED + wrong):
        explain_mistake("orders", headers)


@pytest.mark.parametrize("topic", [3, None, b"orders"])
def test_a_topic_that_is_no_name(topic):
    with pytest.raises(TypeError, match=f"the topic must be a str, not {type(topic).__name__}"):
        explain_mistake(topic, ())


@pytest.mark.parametrize("headers", [(), [("a", b"1"), ("b", None)], {"a": b"1"}, [("a", "1")]])
def test_valid_arguments_raise_no_error(headers):
    """Passes when `explain_mistake` raises no error for valid arguments."""
    explain_mistake("orders", headers)


@pytest.mark.parametrize("headers", [{"a": "ä", "b": None}, [("a", "ä"), ("b", None)]])
def test_headers_may_be_a_mapping_and_text(headers):
    assert as_headers(headers) == [("a", "ä".encode()), ("b", None)]


def test_none_and_an_empty_mapping_are_no_headers():
    assert as_headers(None) == as_headers({}) == []


@pytest.mark.parametrize("moment", [1794900824.8, "1794900824800", 1.0])
def test_a_timestamp_is_a_whole_number(moment):
    """A float is usually a time in seconds, which would be stored as a day in 1970."""
    with pytest.raises(TypeError, match="milliseconds since 1970 as an int"):
        as_timestamp(moment)


def test_a_timestamp_is_not_negative():
    assert as_timestamp(0) == 0
    with pytest.raises(LocalError, match="-1"):
        as_timestamp(-1)


def test_a_text_of_two_letters_is_no_header():
    with pytest.raises(TypeError, match="a header is a pair of a name and bytes, not 'ab'"):
        as_headers(["ab"])
