"""Support for your own tests: a real broker in the test process, and controllable clocks."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from barnabas.testing.broker import Broker
    from barnabas.testing.cluster import Cluster
    from barnabas.testing.external import ExternalKafka
    from barnabas.testing.server import KafkaServer

_HOMES = {
    "Broker": "barnabas.testing.broker",
    "Cluster": "barnabas.testing.cluster",
    "ExternalKafka": "barnabas.testing.external",
    "KafkaServer": "barnabas.testing.server",
}

__all__ = ["Broker", "Cluster", "ExternalKafka", "KafkaServer"]


def __getattr__(name: str) -> object:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(name)
    import importlib

    return getattr(importlib.import_module(home), name)
