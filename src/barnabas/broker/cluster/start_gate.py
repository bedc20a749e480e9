"""Holds requests of clients until this broker has started.

The controller's commands, which a broker needs for its start, use the same listeners and are served
immediately. Other requests wait: without metadata the broker would send wrong responses, and some
clients fail when the connection is closed.

The connection of a held request is muted, so each connection has at most one held request.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from barnabas.broker.access.broker_peers import INTER_BROKER_APIS
from barnabas.broker.handler import NO_RESPONSE, RequestContext, Result
from barnabas.net.refusal import ConnectionClosedError, Refusal
from barnabas.wire.api_keys import ApiKey

MAX_HELD = 1000
MAX_WAIT_S = 60.0
_SERVED_AT_ONCE = INTER_BROKER_APIS | {ApiKey.API_VERSIONS}

Handle = Callable[[RequestContext, Any], Result]


class StartGate:
    """An `Interceptor`, in force until the broker has started; owned by the broker's loop."""

    def __init__(self, *, max_held: int = MAX_HELD, max_wait_s: float = MAX_WAIT_S) -> None:
        self._max_held = max_held
        self._max_wait_s = max_wait_s
        self._decided = asyncio.Event()
        self._is_open = False
        self.held = 0

    def __call__(self, context: RequestContext, request: Any, handle: Handle) -> Result:
        if self._is_open or context.header.api_key in _SERVED_AT_ONCE:
            return handle(context, request)
        if self.held >= self._max_held:
            raise _refusal(f"{self.held} requests wait for the broker to start, no more are held")
        self.held += 1
        return self._hold(context, request, handle)

    def open(self) -> None:
        """Serves the held requests; called when the broker has started."""
        self._is_open = True
        self._decided.set()

    def close(self) -> None:
        """Closes the connections of held requests; called when the broker stops."""
        self._decided.set()

    def _hold(self, context: RequestContext, request: Any, handle: Handle) -> Awaitable[Any]:
        async def serve_later() -> Any:
            try:
                async with asyncio.timeout(self._max_wait_s):
                    await self._decided.wait()
            except TimeoutError:
                raise _refusal(f"the broker did not start in {self._max_wait_s:g} s") from None
            finally:
                self.held -= 1
            if context.connection.closed:
                return NO_RESPONSE
            if not self._is_open:
                raise _refusal("the broker stopped during its start")
            return handle(context, request)

        return serve_later()


def _refusal(why: str) -> ConnectionClosedError:
    return ConnectionClosedError(Refusal.NOT_STARTED, why)
