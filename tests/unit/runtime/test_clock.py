import pytest

from barnabas.runtime.clock import iso_time


def test_a_timestamp_as_text():
    assert iso_time(1_700_000_000_123) == "2023-11-14T22:13:20.123Z"


@pytest.mark.parametrize("timestamp_ms", [None, -1, 10**15, 2**63 - 1])
def test_no_timestamp_and_one_outside_of_the_calendar_have_no_text(timestamp_ms):
    assert iso_time(timestamp_ms) is None
