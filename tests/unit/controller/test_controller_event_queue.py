import asyncio

import pytest

from barnabas.controller.controller import EventQueue


@pytest.fixture
async def queue():
    errors = []
    queue = EventQueue(errors.append)
    queue.errors = errors
    task = asyncio.create_task(queue.run())
    yield queue
    task.cancel()


async def test_events_run_one_after_another_in_order(queue):
    seen = []

    def event(n):
        async def run():
            seen.append(n)
            await asyncio.sleep(0)
            seen.append(n)

        return run

    for n in range(3):
        queue.put(None, event(n))
    await queue.call(event(3))
    assert seen == [0, 0, 1, 1, 2, 2, 3, 3]


async def test_waiting_work_of_one_key_is_not_added_twice(queue):
    seen = []

    async def look():
        seen.append(1)
        if len(seen) == 1:
            queue.put("look", look)  # while running is not while waiting

    for _ in range(5):
        queue.put("look", look)
    await settle()
    assert seen == [1, 1]


async def test_errors_are_handed_over_and_do_not_stop_the_queue(queue):
    async def fail():
        raise ValueError("no")

    async def succeed():
        return 7

    queue.put(None, fail)
    with pytest.raises(ValueError, match="no"):
        await queue.call(fail)
    assert await queue.call(succeed) == 7
    assert [str(error) for error in queue.errors] == ["no", "no"]


async def test_paused_queue_starts_nothing(queue):
    seen = []

    async def look():
        seen.append(1)

    queue.pause()
    queue.put(None, look)
    await settle()
    assert seen == []
    queue.resume()
    await settle()
    assert seen == [1]


async def test_event_that_fails_at_once_for_ever_leaves_the_loop_to_others():
    """Passes when another coroutine runs within five seconds."""

    async def fail():
        raise ConnectionError

    again = EventQueue(lambda error: again.put_first(fail))
    task = asyncio.create_task(again.run())
    again.put(None, fail)
    await asyncio.wait_for(settle(), 5)
    task.cancel()


async def test_repairs_go_first(queue):
    seen = []

    def event(n):
        async def run():
            seen.append(n)

        return run

    queue.pause()
    queue.put(None, event("later"))
    queue.put_first(event("repair"))
    queue.resume()
    await settle()
    assert seen == ["repair", "later"]


async def test_cancelled_caller_cancels_work_that_has_not_begun(queue):
    seen = []

    async def look():
        seen.append(1)

    queue.pause()
    caller = asyncio.create_task(queue.call(look))
    await asyncio.sleep(0)
    caller.cancel()
    queue.resume()
    await settle()
    assert seen == []


async def settle():
    for _ in range(20):
        await asyncio.sleep(0)
