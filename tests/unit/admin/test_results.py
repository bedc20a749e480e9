import pytest

from barnabas.admin import Results
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BrokerError


def error(code=ErrorCode.TOPIC_ALREADY_EXISTS):
    return BrokerError(code)


def test_values_and_errors_side_by_side():
    results = Results({"a": 1, "b": error(), "c": None})
    assert results["a"] == 1
    assert results["c"] is None
    assert list(results) == ["a", "b", "c"]
    assert "b" in results
    assert len(results) == 3
    assert results.ok == {"a": 1, "c": None}
    assert list(results.errors) == ["b"]
    with pytest.raises(BrokerError, match="TOPIC_ALREADY_EXISTS"):
        results["b"]
    with pytest.raises(KeyError):
        results["d"]


def test_going_through_the_values_does_not_pass_over_a_failure():
    with pytest.raises(BrokerError):
        dict(Results({"a": 1, "b": error()}))


def test_check_hands_out_everything_or_raises_the_first_with_the_others_noted():
    assert Results({"a": 1}).check() == {"a": 1}
    assert Results({}).check() == {}
    with pytest.raises(BrokerError) as caught:
        Results({"a": error(), "b": error(ErrorCode.INVALID_CONFIG)}).check()
    assert caught.value.code is ErrorCode.TOPIC_ALREADY_EXISTS
    notes = "\n".join(caught.value.__notes__)
    assert "for a" in notes
    assert "for b: INVALID_CONFIG" in notes
