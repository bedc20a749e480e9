"""Long loops let other callbacks of the event loop run."""

import asyncio

from support.loop_turns import counted_turns

from barnabas.runtime import slices
from barnabas.runtime.slices import in_slices, slices_of


async def test_the_loop_turns_after_each_slice_of_time(monkeypatch):
    now = [0.0]
    monkeypatch.setattr(asyncio.get_running_loop(), "time", lambda: now[0])
    seen = []
    with counted_turns() as turns:
        async for number in in_slices(range(9)):
            seen.append((number, turns.number))
            now[0] += slices.SLICE_S / 3
    assert [number for number, _ in seen] == list(range(9))
    first = seen[0][1]
    assert [turn - first for _, turn in seen] == [0, 0, 0, 1, 1, 1, 2, 2, 2]


async def test_a_short_loop_does_not_wait(monkeypatch):
    monkeypatch.setattr(asyncio.get_running_loop(), "time", lambda: 0.0)
    with counted_turns() as turns:
        first = turns.number
        assert [number async for number in in_slices(range(1000))] == list(range(1000))
        assert turns.number == first


async def test_other_callbacks_run_between_two_slices():
    seen = []
    asyncio.get_running_loop().call_soon(seen.append, "callback")
    async for numbers in slices_of(range(5), 3):
        seen.append(list(numbers))
    assert seen == [[0, 1, 2], "callback", [3, 4]]
