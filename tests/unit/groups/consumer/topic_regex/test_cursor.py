import pytest

from barnabas.groups.consumer.topic_regex.cursor import Cursor
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BrokerError


def test_reading_from_the_left():
    cursor = Cursor("ab{cd}e")
    assert (cursor.peek("ab"), cursor.accept("b"), cursor.accept("a")) == (True, False, True)
    assert cursor.next() == "b"
    assert cursor.maybe_before("}") == "{cd"
    assert cursor.until("}") == "{cd"
    assert cursor.maybe_before("}") is None
    assert (cursor.rest(), cursor.at_end) == ("e", True)


def test_reading_again():
    cursor = Cursor("ab")
    cursor.rest()
    cursor.position = 1
    assert cursor.next() == "b"


@pytest.mark.parametrize("read", [Cursor.next, lambda cursor: cursor.until(")")])
def test_too_little_text(read):
    with pytest.raises(BrokerError) as caught:
        read(Cursor(""))
    assert caught.value.code is ErrorCode.INVALID_REGULAR_EXPRESSION
