"""The meter: totals, and values of the kept windows."""

from barnabas.runtime._meter_hot import Meter


def filled(*values):
    meter = Meter()
    for value in values:
        meter.record(value)
    return meter


def test_an_empty_meter():
    assert filled().recent() == (0, 0, -1, -1)


def test_totals_and_extremes():
    meter = filled(5, 0, 7)
    assert (meter.count, meter.total) == (3, 12)
    assert meter.recent() == (3, 12, 7, 0)


def test_a_window_ends_after_the_number_of_samples():
    meter = filled(9)
    meter.roll(2)
    meter.record(4)
    assert meter.recent() == (2, 13, 9, 4)
    meter.roll(2)
    assert meter.recent() == (1, 4, 4, 4)
    meter.roll(2)
    assert meter.recent() == (0, 0, -1, -1)
    assert (meter.count, meter.total) == (2, 13)


def test_one_sample_keeps_the_current_window_only():
    meter = filled(9)
    meter.roll(1)
    assert meter.recent() == (0, 0, -1, -1)
