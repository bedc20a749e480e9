"""Stored times do not follow a wall clock that jumps."""

from barnabas.broker.coordinators.shard_runtime import SteadyClock
from barnabas.testing.virtual_clock import VirtualClock


def test_jumps_of_the_wall_clock_pass_by():
    clock = VirtualClock(now_ms=1_000_000)
    steady = SteadyClock(clock)
    assert steady.now_ms() == 1_000_000
    for jump in (3_600_000, -7_200_000, 10 * 365 * 86_400_000):
        clock.jump_wall(jump)
        assert steady.now_ms() == 1_000_000
    clock.advance(5)
    assert steady.now_ms() == 1_000_005
