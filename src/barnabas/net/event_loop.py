"""The event loop of a broker process: asyncio's loop, with a short way from epoll to a connection.

asyncio puts the callback of a readable socket into a handle and the handle into its queue, and runs
it in a copy of a context: four Python functions for each request. `DirectSelector` calls the
callback of a watched socket while it selects, and returns only the other events to asyncio.

Everything else is asyncio's: timers, `call_soon`, signals, writable sockets, listening sockets. A
callback that schedules with `call_soon` is followed by the scheduled call in the same iteration,
because the loop runs its queue after it has selected. Systems without epoll use asyncio's loop
alone; a connection then calls `add_reader`.
"""

import asyncio
import math
import os
import select
import selectors
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

_EVENTS = ((selectors.EVENT_READ, "EPOLLIN"), (selectors.EVENT_WRITE, "EPOLLOUT"))
_MAX_EVENTS = 512
"""Events of one iteration; the other descriptors are reported by the next one."""

Callback = Callable[[], None]


class DirectSelector(selectors.BaseSelector):
    """Selects with epoll; owned by one loop.

    A descriptor may be watched here for reading and registered by asyncio for writing at the same
    time. `on_error` gets the exception of a callback.
    """

    def __init__(self, on_error: Callable[[Exception], None]) -> None:
        self._on_error = on_error
        self._epoll = select.epoll()
        self._keys: dict[int, selectors.SelectorKey] = {}
        self._callbacks: dict[int, Callback] = {}
        self._masks: dict[int, int] = {}

    def watch(self, fd: int, callback: Callback | None) -> None:
        """Calls `callback` while `fd` is readable or has an error; None ends that."""
        if callback is None:
            self._callbacks.pop(fd, None)
        else:
            self._callbacks[fd] = callback
        self._update(fd)

    # --- the interface for asyncio -------------------------------------------------------------

    def register(self, fileobj: Any, events: int, data: Any = None) -> selectors.SelectorKey:
        fd = _descriptor(fileobj)
        if fd in self._keys:
            raise KeyError(f"{fileobj!r} (descriptor {fd}) is already registered")
        key = self._keys[fd] = selectors.SelectorKey(fileobj, fd, events, data)
        self._update(fd)
        return key

    def unregister(self, fileobj: object) -> selectors.SelectorKey:
        fd = _descriptor(fileobj)
        key = self._keys.pop(fd)
        self._update(fd)
        return key

    def modify(self, fileobj: Any, events: int, data: Any = None) -> selectors.SelectorKey:
        fd = _descriptor(fileobj)
        if fd not in self._keys:
            raise KeyError(f"{fileobj!r} is not registered")
        key = self._keys[fd] = selectors.SelectorKey(fileobj, fd, events, data)
        self._update(fd)
        return key

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        """Calls the callbacks of watched descriptors; returns the events of registered ones."""
        ready: list[tuple[selectors.SelectorKey, int]] = []
        callbacks, keys = self._callbacks, self._keys
        for fd, events in self._poll(timeout):
            if events != select.EPOLLOUT:
                callback = callbacks.get(fd)
                if callback is not None:
                    try:
                        callback()
                    except Exception as error:  # noqa: BLE001 - one connection fails, the others continue
                        self._on_error(error)
            key = keys.get(fd)
            if key is not None:
                found = _wanted(events) & key.events
                if found:
                    ready.append((key, found))
        return ready

    def _poll(self, timeout: float | None) -> list[tuple[int, int]]:
        # epoll counts in milliseconds: a shorter wait is rounded up, else the loop would spin.
        wait_s = -1.0 if timeout is None else math.ceil(max(timeout, 0) * 1000) / 1000
        try:
            return self._epoll.poll(wait_s, _MAX_EVENTS)
        except InterruptedError:
            return []

    def get_map(self) -> Mapping[Any, selectors.SelectorKey]:
        return _Registered(self._keys)

    def close(self) -> None:
        self._epoll.close()
        self._keys.clear()
        self._callbacks.clear()
        self._masks.clear()

    def _update(self, fd: int) -> None:
        """Registers with epoll the events that a descriptor needs now."""
        mask = select.EPOLLIN if fd in self._callbacks else 0
        key = self._keys.get(fd)
        if key is not None:
            for event, name in _EVENTS:
                mask |= getattr(select, name) if key.events & event else 0
        before = self._masks.get(fd, 0)
        if mask == before:
            return
        if not mask:
            del self._masks[fd]
            with suppress(OSError):  # closed already: the kernel has removed it
                self._epoll.unregister(fd)
            return
        if before:
            self._epoll.modify(fd, mask)
        else:
            self._epoll.register(fd, mask)
        self._masks[fd] = mask


class _Registered(Mapping[Any, selectors.SelectorKey]):
    """The registered descriptors; looked up by file object, as `get_map` must allow."""

    def __init__(self, keys: dict[int, selectors.SelectorKey]) -> None:
        self._keys = keys

    def __getitem__(self, fileobj: object) -> selectors.SelectorKey:
        return self._keys[_descriptor(fileobj)]

    def __len__(self) -> int:
        return len(self._keys)

    def __iter__(self) -> Any:
        return (key.fileobj for key in self._keys.values())


def _descriptor(fileobj: Any) -> int:
    return fileobj if isinstance(fileobj, int) else int(fileobj.fileno())


def _wanted(events: int) -> int:
    """Returns the events of `selectors`; an error or a hang-up counts as both, as in asyncio."""
    found = 0
    if events & ~select.EPOLLIN:
        found |= selectors.EVENT_WRITE
    if events & ~select.EPOLLOUT:
        found |= selectors.EVENT_READ
    return found


class DirectEventLoop(asyncio.SelectorEventLoop):
    """asyncio's loop with `watch_readable`."""

    def __init__(self) -> None:
        selector = DirectSelector(self._callback_failed)
        super().__init__(selector)
        self.watch_readable = selector.watch

    def _callback_failed(self, error: Exception) -> None:
        context = {"message": "a callback of a readable socket failed", "exception": error}
        self.call_exception_handler(context)


class LoopWaker:
    """Calls a function on the loop soon after another thread asked for it.

    `call_soon_threadsafe` makes a handle with a copy of the context, and the loop reads its socket
    pair until it is empty. On a `DirectEventLoop` the selector calls the function directly when an
    eventfd becomes readable. Create it on the loop, or before the loop runs.
    """

    __slots__ = ("__weakref__", "_callback", "_fd", "_loop")

    def __init__(self, loop: asyncio.AbstractEventLoop, callback: Callback) -> None:
        self._loop = loop
        self._callback = callback
        self._fd = -1
        if isinstance(loop, DirectEventLoop):
            self._fd = os.eventfd(0, os.EFD_NONBLOCK | os.EFD_CLOEXEC | os.EFD_SEMAPHORE)
            loop.watch_readable(self._fd, self._on_readable)

    def wake(self) -> None:
        """Calls the function on the loop, once for each call of this. Thread-safe.

        Raises:
            RuntimeError: the loop is closed.
        """
        if self._fd < 0:
            self._loop.call_soon_threadsafe(self._callback)
        elif self._loop.is_closed():
            raise RuntimeError("the event loop is closed")
        else:
            os.eventfd_write(self._fd, 1)

    def close(self) -> None:
        """Ends the calls of the function. Call it on the loop."""
        if isinstance(self._loop, DirectEventLoop) and not self._loop.is_closed():
            self._loop.watch_readable(self._fd, None)

    def _on_readable(self) -> None:
        try:
            self._callback()
        finally:
            # After the function, because the function is urgent. The descriptor is a semaphore: a
            # read subtracts one, so a call of `wake` in the meantime is not lost.
            os.eventfd_read(self._fd)

    def __del__(self) -> None:
        # Not closed earlier: a thread in `wake` would write to the next file with this number.
        if self._fd >= 0:
            os.close(self._fd)


def new_event_loop() -> asyncio.AbstractEventLoop:
    """Returns the fastest event loop for a broker on this system."""
    return DirectEventLoop() if hasattr(select, "epoll") else asyncio.new_event_loop()
