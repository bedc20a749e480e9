"""The pages, one module per subject; they use only the JSON API.

NiceGUI imports Socket.IO, whose clients and message queues load optional packages that a server of
pages never uses, about 20 MB in memory. They are hidden while it is imported for the first time;
Socket.IO treats them as not installed.
"""

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module

_UNUSED = (
    *("aiohttp", "aio_pika", "kafka", "kombu", "redis", "requests", "valkey", "websocket", "zmq"),
)


@contextmanager
def hidden(names: Sequence[str]) -> Iterator[None]:
    """Lets imports of these packages fail inside the block, unless they were imported before."""
    absent = [name for name in names if name not in sys.modules]
    sys.modules.update(dict.fromkeys(absent))  # type: ignore[arg-type]  # None: not importable
    try:
        yield
    finally:
        for name in absent:
            del sys.modules[name]


with hidden(_UNUSED):
    import_module("socketio")
