import pytest

from barnabas.model.config import (
    address_limits_problem,
    closed_to_all,
    parse_address_limits,
)


def test_pairs_with_and_without_spaces():
    assert parse_address_limits("") == {}
    assert parse_address_limits("a.example:1, 10.0.0.7 : 0 ,fe80::1%eth0:3,") == {
        "a.example": 1,
        "10.0.0.7": 0,
        "fe80::1%eth0": 3,
    }


@pytest.mark.parametrize(
    "text", ["a", "a:", ":1", "a:b", "a:-1", "[::1]:5", "a b:1", "a:1,b", "a:²"]
)
def test_an_invalid_pair_is_rejected(text):
    with pytest.raises(ValueError, match="host:count"):
        parse_address_limits(text)
    assert "must be host:count pairs" in address_limits_problem(text)


def test_a_limit_of_zero_needs_exceptions():
    assert "max.connections.per.ip.overrides" in closed_to_all(0, "")
    assert closed_to_all(0, "a:1") is None
    assert closed_to_all(1, "") is None
