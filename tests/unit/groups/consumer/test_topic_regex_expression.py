import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from barnabas.groups.consumer.topic_regex import compile_topic_regex
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BrokerError

MATCHING = [
    ("orders", "orders"),
    ("orders.*", "orders"),
    ("orders.*", "orders-eu"),
    ("a|b|cd", "cd"),
    ("(a|b)+-x", "abba-x"),
    ("(?:ab){2,3}", "ababab"),
    ("a{2}", "aa"),
    ("a{2,}b", "aaaab"),
    ("a{x}", "a{x}"),
    ("[a-c]+[^0-9]", "abc-"),
    ("[]a]+", "]a"),
    ("[a-]+", "a-"),
    (r"[\w.-]+", "my.topic-1"),
    (r"[[:alpha:]]+[[:digit:]]*", "abc123"),
    (r"\d+\D", "12x"),
    (r"a\.b", "a.b"),
    (r"\x61\x{62}", "ab"),
    (r"\Qa.b\E.", "a.bc"),
    ("^orders$", "orders"),
    (r"\Aorders\z", "orders"),
    ("(?i)ORDERS", "orders"),
    ("(?i:o)rders", "Orders"),
    ("(?P<x>a)(?<y>b)", "ab"),
    ("a.*?b", "axxb"),
    ("x*", ""),
    ("()", ""),
    ("(|a)b", "b"),
    ("(a*)*", "aaa"),
]


@pytest.mark.parametrize(("pattern", "text"), MATCHING)
def test_a_pattern_matches_the_text(pattern, text):
    assert compile_topic_regex(pattern)(text)


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        ("orders", "orders-eu"),
        ("orders", "my-orders"),
        ("a{2}", "aaa"),
        ("a{2,3}", "a"),
        ("[^a]", "a"),
        ("(?i:o)rders", "ORDERS"),
        ("a^b", "ab"),
        ("a$b", "ab"),
        (r"a\.b", "axb"),
        ("a+", ""),
    ],
)
def test_does_not_match(pattern, text):
    assert not compile_topic_regex(pattern)(text)


@pytest.mark.parametrize(
    "pattern",
    ["(", ")", "a)", "[a", "*a", "a**", "a{2}{3}", r"\1", "(?=a)", "(?<=a)b", "(?P<1x>a)", r"a\
".strip("\n"), r"\p{L}", "[[:what:]]", "[b-a]", "a{3,2}", "a{1001}", "(a{100}){100}",
     "x" * 1001, "(" * 200 + ")" * 200, r"\x{110000}"],
)  # fmt: skip
def test_an_invalid_pattern_is_rejected(pattern):
    with pytest.raises(BrokerError) as caught:
        compile_topic_regex(pattern)
    assert caught.value.code is ErrorCode.INVALID_REGULAR_EXPRESSION


def test_hostile_expression_is_harmless():
    matches = compile_topic_regex("(a+)+b")
    started = time.thread_time()
    assert not matches("a" * 249)
    assert time.thread_time() - started < 0.5


ATOMS = st.sampled_from(["a", "b", ".", "[ab]", "[^a]", "-", "(a|b)", "(?:ab)", "(a|)"])
PIECES = st.tuples(ATOMS, st.sampled_from(["", "*", "+", "?", "{2}", "{1,3}", "{0,}", "*?"]))
PATTERNS = st.lists(PIECES, max_size=5).map(lambda ps: "".join(a + q for a, q in ps))


@given(pattern=PATTERNS, text=st.text("ab-", max_size=8))
def test_agrees_with_python(pattern, text):
    expected = re.compile(pattern).fullmatch(text) is not None
    assert compile_topic_regex(pattern)(text) is expected
