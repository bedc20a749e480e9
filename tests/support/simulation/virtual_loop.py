"""An asyncio loop without IO whose time jumps to the next timer: hours pass in milliseconds.

Everything that runs on it is deterministic as long as nothing asks the machine for time, chance or
threads. `after_each_step` is called after every turn of the loop, which is where a simulation
checks its invariants.
"""

import asyncio

STEPS_PER_INSTANT = 20_000
STEPS_IN_ALL = 1_000_000


class DeadlockError(AssertionError):
    """No callback is scheduled, but a task still waits."""


class LivelockError(AssertionError):
    """A task keeps the loop busy, so that time does not advance."""


class VirtualLoop(asyncio.BaseEventLoop):
    """BaseEventLoop with a selector that only lets time pass."""

    def __init__(self, after_each_step=lambda: None):
        super().__init__()
        self._selector = self
        self._seconds = 0.0
        self._steps = self._all_steps = 0
        self.after_each_step = after_each_step
        self.failures = []
        self.set_exception_handler(lambda _loop, context: self.failures.append(context))

    def time(self):
        return self._seconds

    def select(self, timeout):
        if timeout is None:
            raise DeadlockError("nothing left to run")
        self._steps = 0 if timeout else self._steps + 1
        self._all_steps += 1
        if self._steps > STEPS_PER_INSTANT or self._all_steps > STEPS_IN_ALL:
            raise LivelockError(f"busy at {self._seconds}: {self._ready}")
        self._seconds += timeout
        return []

    def _process_events(self, event_list):
        pass

    def _write_to_self(self):
        pass

    def _run_once(self):
        super()._run_once()
        self.after_each_step()


class LoopClock:
    """A `Clock` on the loop's time."""

    def __init__(self, loop):
        self._loop = loop

    def now_ms(self):
        return 1_700_000_000_000 + self.monotonic_ms()

    def monotonic_ms(self):
        return int(self._loop.time() * 1000)


def run(main, after_each_step=lambda: None):
    """Run a coroutine function on a fresh virtual loop; it gets the loop."""
    loop = VirtualLoop(after_each_step)
    try:
        asyncio.set_event_loop(loop)
        return loop.run_until_complete(main(loop))
    finally:
        loop.after_each_step = lambda: None
        while pending := asyncio.all_tasks(loop):
            for task in pending:
                task.cancel()
            loop.run_until_complete(asyncio.wait(pending, timeout=0))
        asyncio.set_event_loop(None)
        loop.close()
