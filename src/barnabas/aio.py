"""The clients for asyncio: the same names as in `barnabas`, awaitable, on the running loop."""

from typing import TYPE_CHECKING

from barnabas.model.lazy_exports import lazy_exports, lazy_names

if TYPE_CHECKING:
    from barnabas.admin import AsyncAdmin as Admin
    from barnabas.clients.group.aio_consumer import Consumer
    from barnabas.clients.group.aio_database import DatabaseSink
    from barnabas.clients.producer.aio_producer import Producer
    from barnabas.clients.simple.aio_consumer import SimpleConsumer

_MODULE_OF = {
    "Admin": "barnabas.admin.admin:AsyncAdmin",
    "Consumer": "barnabas.clients.group.aio_consumer",
    "DatabaseSink": "barnabas.clients.group.aio_database",
    "Producer": "barnabas.clients.producer.aio_producer",
    "SimpleConsumer": "barnabas.clients.simple.aio_consumer",
}

__all__ = ["Admin", "Consumer", "DatabaseSink", "Producer", "SimpleConsumer"]

__getattr__ = lazy_exports(__name__, _MODULE_OF)
__dir__ = lazy_names(_MODULE_OF)
