"""A Kafka-compatible broker, clients and tools in Python, with data pipelines on Spark.

The public names are imported on first use: a script that only produces never loads the consumer.
"""

from typing import TYPE_CHECKING

from barnabas.model.version import VERSION

if TYPE_CHECKING:
    from barnabas.admin import Admin
    from barnabas.clients.connector import ConsumerConnector
    from barnabas.clients.core.graceful import graceful
    from barnabas.clients.group import Consumer
    from barnabas.clients.producer import Producer, SendFuture
    from barnabas.clients.simple import SimpleConsumer
    from barnabas.model.error_codes import ErrorCode
    from barnabas.model.errors import BarnabasError, BrokerError, ConfigError, DeadlineError
    from barnabas.model.group_metadata import GroupMetadata, OffsetAndMetadata
    from barnabas.model.ids import TopicPartition
    from barnabas.model.record_metadata import RecordMetadata
    from barnabas.records.record import Record
    from barnabas.security.errors import AuthenticationError

__version__ = VERSION

_HOMES = {
    "Admin": "barnabas.admin",
    "AuthenticationError": "barnabas.security.errors",
    "BarnabasError": "barnabas.model.errors",
    "BrokerError": "barnabas.model.errors",
    "ConfigError": "barnabas.model.errors",
    "Consumer": "barnabas.clients.group",
    "ConsumerConnector": "barnabas.clients.connector",
    "DeadlineError": "barnabas.model.errors",
    "ErrorCode": "barnabas.model.error_codes",
    "GroupMetadata": "barnabas.model.group_metadata",
    "OffsetAndMetadata": "barnabas.model.group_metadata",
    "Producer": "barnabas.clients.producer",
    "Record": "barnabas.records.record",
    "RecordMetadata": "barnabas.model.record_metadata",
    "SendFuture": "barnabas.clients.producer",
    "SimpleConsumer": "barnabas.clients.simple",
    "TopicPartition": "barnabas.model.ids",
    "graceful": "barnabas.clients.core.graceful",
}

__all__ = [
    "Admin",
    "AuthenticationError",
    "BarnabasError",
    "BrokerError",
    "ConfigError",
    "Consumer",
    "ConsumerConnector",
    "DeadlineError",
    "ErrorCode",
    "GroupMetadata",
    "OffsetAndMetadata",
    "Producer",
    "Record",
    "RecordMetadata",
    "SendFuture",
    "SimpleConsumer",
    "TopicPartition",
    "graceful",
]


def __getattr__(name: str) -> object:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'barnabas' has no attribute {name!r}")
    import importlib

    return getattr(importlib.import_module(home), name)
