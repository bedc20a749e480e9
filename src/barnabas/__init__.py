"""A Kafka-compatible broker, clients and tools in Python, with data pipelines on Spark.

The public names are imported on first use: a script that only produces never loads the consumer.
"""

from typing import TYPE_CHECKING

from barnabas.model.lazy_exports import lazy_exports, lazy_names
from barnabas.model.version import VERSION

if TYPE_CHECKING:
    from barnabas.admin import Admin
    from barnabas.clients.connector import ConsumerConnector
    from barnabas.clients.core.cluster_metadata import PartitionMetadata
    from barnabas.clients.core.exit_hooks import graceful
    from barnabas.clients.core.serialization import Deserializer, SerializationError, Serializer
    from barnabas.clients.group import Consumer
    from barnabas.clients.producer import Producer, SendFuture
    from barnabas.clients.simple import SimpleConsumer
    from barnabas.model.error_codes import ErrorCode
    from barnabas.model.errors import (
        BarnabasError,
        BrokerError,
        ConfigError,
        DeadlineError,
        LocalError,
        WakeupError,
    )
    from barnabas.model.ids import TopicPartition
    from barnabas.model.record_metadata import RecordMetadata
    from barnabas.model.records import GroupMetadata, OffsetAndMetadata
    from barnabas.records.record import Record
    from barnabas.runtime.metric_types import Metric, MetricName
    from barnabas.security.mechanism import AuthenticationError

__version__ = VERSION

_MODULE_OF = {
    "Admin": "barnabas.admin",
    "AuthenticationError": "barnabas.security.mechanism",
    "BarnabasError": "barnabas.model.errors",
    "BrokerError": "barnabas.model.errors",
    "ConfigError": "barnabas.model.errors",
    "Consumer": "barnabas.clients.group",
    "ConsumerConnector": "barnabas.clients.connector",
    "DeadlineError": "barnabas.model.errors",
    "Deserializer": "barnabas.clients.core.serialization",
    "ErrorCode": "barnabas.model.error_codes",
    "GroupMetadata": "barnabas.model.records",
    "LocalError": "barnabas.model.errors",
    "Metric": "barnabas.runtime.metric_types",
    "MetricName": "barnabas.runtime.metric_types",
    "OffsetAndMetadata": "barnabas.model.records",
    "PartitionMetadata": "barnabas.clients.core.cluster_metadata",
    "Producer": "barnabas.clients.producer",
    "Record": "barnabas.records.record",
    "RecordMetadata": "barnabas.model.record_metadata",
    "SendFuture": "barnabas.clients.producer",
    "SerializationError": "barnabas.clients.core.serialization",
    "Serializer": "barnabas.clients.core.serialization",
    "SimpleConsumer": "barnabas.clients.simple",
    "TopicPartition": "barnabas.model.ids",
    "WakeupError": "barnabas.model.errors",
    "graceful": "barnabas.clients.core.exit_hooks",
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
    "Deserializer",
    "ErrorCode",
    "GroupMetadata",
    "LocalError",
    "Metric",
    "MetricName",
    "OffsetAndMetadata",
    "PartitionMetadata",
    "Producer",
    "Record",
    "RecordMetadata",
    "SendFuture",
    "SerializationError",
    "Serializer",
    "SimpleConsumer",
    "TopicPartition",
    "WakeupError",
    "graceful",
]

__getattr__ = lazy_exports(__name__, _MODULE_OF)
__dir__ = lazy_names(_MODULE_OF)
