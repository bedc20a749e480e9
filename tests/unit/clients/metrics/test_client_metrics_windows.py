"""Rates, averages and maxima over sample windows, with a virtual clock."""

import math

from barnabas.clients.metrics.client_metrics import Windows, average, maximum, minimum, total
from barnabas.runtime._meter_hot import Meter


def several(*meters):
    return lambda: meters


def windows_of(*meters, samples=2, window_ms=1000, now_ms=0):
    windows = Windows(samples, window_ms, now_ms)
    windows.watch(meters)
    return windows


def test_a_young_client_counts_as_idle_before():
    meter = Meter()
    windows = windows_of(meter)
    meter.record(100)
    # Half a second has passed, and the missing window of one second counts too.
    assert windows.rate(several(meter), "total", 500) == 100 / 1.5


def test_the_rate_covers_the_kept_windows():
    meter = Meter()
    windows = windows_of(meter)
    for second in range(5):
        windows.roll(second * 1000)
        meter.record(100)
    assert windows.rate(several(meter), "total", 4500) == 200 / 1.5
    assert windows.rate(several(meter), "count", 4500) == 2 / 1.5
    assert total(several(meter), "total") == 500


def test_an_idle_client_has_the_rate_0_after_all_windows():
    meter = Meter()
    windows = windows_of(meter)
    meter.record(100)
    windows.roll(60_000)
    assert windows.rate(several(meter), "total", 60_000) == 0
    assert math.isnan(average(several(meter), 1.0))
    assert math.isnan(maximum(several(meter), 1.0))
    assert math.isnan(minimum(several(meter), 1.0))


def test_a_meter_that_was_created_later_counts_from_then():
    windows = windows_of()
    for second in range(10):
        windows.roll(second * 1000)
    meter = Meter(9000)
    windows.watch([meter])
    meter.record(50)
    assert windows.rate(several(meter), "total", 9500) == 50 / 1.5


def test_several_meters_are_read_as_one():
    first, second = Meter(), Meter()
    windows = windows_of(first, second)
    first.record(1)
    second.record(5)
    both = several(first, second)
    assert average(both, 1.0) == 3
    assert (maximum(both, 0.5), minimum(both, 1.0)) == (2.5, 1)
    assert windows.rate(both, "count", 0) == 2


def test_a_window_that_is_late_keeps_its_boundaries():
    meter = Meter()
    windows = windows_of(meter)
    windows.roll(2700)
    meter.record(10)
    # The windows began at 1000 and 2000, not at the time of the call.
    assert windows.rate(several(meter), "total", 3000) == 10 / 2
