"""What meters have in common: the shape of a handler, and muting a connection."""

import asyncio
from collections.abc import Callable
from typing import Any, TypeAlias

from barnabas.broker.handler import RequestContext, Result
from barnabas.net.server_connection import ServerConnection

Handle: TypeAlias = Callable[[RequestContext, Any], Result]


def mute(connection: ServerConnection, throttle_ms: int) -> None:
    """Take nothing from a client for a while; what it has asked for is answered."""
    connection.pause()
    asyncio.get_running_loop().call_later(throttle_ms / 1000, connection.unpause)
