"""Support for your own tests: a real broker in the test process, and controllable clocks."""

from typing import TYPE_CHECKING

from barnabas.model.lazy_exports import lazy_exports, lazy_names

if TYPE_CHECKING:
    from barnabas.testing.broker import Broker
    from barnabas.testing.cluster import Cluster
    from barnabas.testing.server import ExternalKafka, KafkaServer

_MODULE_OF = {
    "Broker": "barnabas.testing.broker",
    "Cluster": "barnabas.testing.cluster",
    "ExternalKafka": "barnabas.testing.server",
    "KafkaServer": "barnabas.testing.server",
}

__all__ = ["Broker", "Cluster", "ExternalKafka", "KafkaServer"]

__getattr__ = lazy_exports(__name__, _MODULE_OF)
__dir__ = lazy_names(_MODULE_OF)
