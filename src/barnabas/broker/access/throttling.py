"""What meters have in common: the shape of a handler, and telling a client to wait."""

from collections.abc import Callable
from typing import Any, TypeAlias

from barnabas.broker.handler import RequestContext, Result

Handle: TypeAlias = Callable[[RequestContext, Any], Result]


def tell(response: Any, throttle_ms: int) -> Any:
    """Say in a response how long to wait; of several waits the longest counts."""
    if throttle_ms > getattr(response, "throttle_time_ms", throttle_ms):
        response.throttle_time_ms = throttle_ms
    return response
