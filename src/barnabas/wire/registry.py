"""Message classes by API key.

Modules are imported on first use, so a process loads only the APIs that it uses.
"""

from functools import cache
from importlib import import_module

from barnabas.model.errors import LocalError
from barnabas.wire.message import Message
from barnabas.wire.messages.index import MODULES


@cache
def request_class(api_key: int) -> type[Message]:
    """Returns the request class of an API; raises LocalError for an unknown key."""
    return _load(api_key, 1)


@cache
def response_class(api_key: int) -> type[Message]:
    """Returns the response class of an API; raises LocalError for an unknown key."""
    return _load(api_key, 2)


def _load(api_key: int, position: int) -> type[Message]:
    names = MODULES.get(api_key)
    if names is None:
        raise LocalError(f"no messages for API key {api_key}")
    module = import_module(f"barnabas.wire.messages.{names[0]}")
    loaded: type[Message] = getattr(module, names[position])
    return loaded
