"""Lets only the controller in until this broker is a part of its cluster.

The commands that make it one come over the same listeners as everything else. Clients and other
brokers are refused meanwhile, as if nothing listened yet: an answer from a broker that knows no
topics would be wrong.
"""

from collections.abc import Callable
from typing import Any

from barnabas.broker.handler import RequestContext, Result
from barnabas.net.connection_ports import ConnectionClosedError
from barnabas.net.refusal import Refusal
from barnabas.wire.api_keys import ApiKey

_CONTROL = frozenset(
    {
        ApiKey.API_VERSIONS,
        ApiKey.LEADER_AND_ISR,
        ApiKey.STOP_REPLICA,
        ApiKey.UPDATE_METADATA,
        ApiKey.CONTROLLED_SHUTDOWN,
        ApiKey.ALTER_PARTITION,
    }
)


def start_gate(
    context: RequestContext, request: Any, handle: Callable[[RequestContext, Any], Result]
) -> Result:
    """An `Interceptor`, in force until the broker has started."""
    if context.header.api_key in _CONTROL:
        return handle(context, request)
    raise ConnectionClosedError(Refusal.NOT_STARTED, "the broker is still starting")
