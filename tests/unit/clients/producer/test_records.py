"""A record that cannot be made is explained in the words of whoever called `send()`."""

import pytest

from barnabas.clients.producer.records import explain_mistake

WANTED = r"headers must be pairs of a name and bytes, such as \[\('source', b'web'\)\], not "


@pytest.mark.parametrize(
    ("headers", "wrong"),
    [
        ({"a": b"1"}, r"\{'a': b'1'\}"),
        ([("a", "1")], r"\('a', '1'\)"),
        ([("a", b"1"), "b"], "'b'"),
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


@pytest.mark.parametrize("headers", [(), [("a", b"1"), ("b", None)], {"a": b"1"}.items()])
def test_what_is_right_is_not_blamed(headers):
    """Passes when `explain_mistake` raises no error for valid arguments."""
    explain_mistake("orders", headers)
