import pytest

from barnabas.groups.consumer.topic_regex import RegexCursor
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BrokerError


def test_reading_from_the_left():
    cursor = RegexCursor("ab{cd}e")
    assert (cursor.peek("ab"), cursor.accept("b"), cursor.accept("a")) == (True, False, True)
    assert cursor.next() == "b"
    assert cursor.maybe_before("}") == "{cd"
    assert cursor.until("}") == "{cd"
    assert cursor.maybe_before("}") is None
    assert (cursor.rest(), cursor.at_end) == ("e", True)


def test_the_cursor_reads_again_from_a_lower_position():
    cursor = RegexCursor("ab")
    cursor.rest()
    cursor.position = 1
    assert cursor.next() == "b"


@pytest.mark.parametrize("read", [RegexCursor.next, lambda cursor: cursor.until(")")])
def test_too_little_text(read):
    with pytest.raises(BrokerError) as caught:
        read(RegexCursor(""))
    assert caught.value.code is ErrorCode.INVALID_REGULAR_EXPRESSION
