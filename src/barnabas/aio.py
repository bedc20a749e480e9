"""The clients for asyncio: the same names as in `barnabas`, awaitable, on the running loop."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from barnabas.admin.aio_admin import Admin
    from barnabas.clients.group.aio_consumer import Consumer
    from barnabas.clients.group.aio_database import DatabaseSink
    from barnabas.clients.producer.aio_producer import Producer
    from barnabas.clients.simple.aio_consumer import SimpleConsumer

_HOMES = {
    "Admin": "barnabas.admin.aio_admin",
    "Consumer": "barnabas.clients.group.aio_consumer",
    "DatabaseSink": "barnabas.clients.group.aio_database",
    "Producer": "barnabas.clients.producer.aio_producer",
    "SimpleConsumer": "barnabas.clients.simple.aio_consumer",
}

__all__ = ["Admin", "Consumer", "DatabaseSink", "Producer", "SimpleConsumer"]


def __getattr__(name: str) -> object:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'barnabas.aio' has no attribute {name!r}")
    import importlib

    return getattr(importlib.import_module(home), name)
