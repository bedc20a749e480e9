"""An event loop in a thread, on which the adapters of asyncio clients run their calls."""

import asyncio
import threading
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")
CALL_SECONDS = 60.0


class Loop:
    def __init__(self, name: str) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name=name, daemon=True)
        self._thread.start()

    def run(self, work: Coroutine[Any, Any, T], timeout: float = CALL_SECONDS) -> T:
        future = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            return future.result(timeout)
        finally:
            future.cancel()

    def close(self) -> None:
        self.run(self._cancel_all())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    async def _cancel_all(self) -> None:
        """Calls that a scenario gave up must not outlive the loop."""
        pending = asyncio.all_tasks() - {asyncio.current_task()}
        for task in pending:
            task.cancel()
        await asyncio.wait(pending, timeout=5) if pending else None


class Blocking:
    """Every coroutine method of `inner` as a blocking one."""

    def __init__(self, inner: Any, loop: Loop) -> None:
        self._inner = inner
        self._loop = loop

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._inner, name)

        def call(*args: Any, **kwargs: Any) -> Any:
            async def run() -> Any:
                result = method(*args, **kwargs)
                return await result if asyncio.iscoroutine(result) else result

            return self._loop.run(run())

        return call
