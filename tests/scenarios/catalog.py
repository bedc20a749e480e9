"""All scenarios and all clients."""

import importlib
import os
from collections.abc import Callable

from scenarios.adapter import Client
from scenarios.registry import SCENARIOS, Scenario

AREAS = (
    "metadata",
    "partitioners",
    "delivery",
    "groups",
    "positions",
    "transactions",
    "admin",
    "tools",
    "failover",
)
JARS_VARIABLE = "BARNABAS_KAFKA_JARS"


def scenarios() -> dict[str, Scenario]:
    for area in AREAS:
        importlib.import_module(f"scenarios.scripts.{area}_scripts")
    return SCENARIOS


def _class(module: str, name: str) -> Callable[[], Client]:
    return lambda: getattr(importlib.import_module(f"scenarios.adapters.{module}"), name)()


PYTHON_CLIENTS: dict[str, Callable[[], Client]] = {
    "barnabas": _class("barnabas_blocking", "BarnabasClient"),
    "barnabas.aio": _class("barnabas_asyncio", "AsyncioClient"),
    "confluent-kafka": _class("confluent", "ConfluentClient"),
    "kafka-python": _class("kafka_python", "KafkaPythonClient"),
    "aiokafka": _class("aiokafka_client", "AiokafkaClient"),
}


def client_makers() -> dict[str, Callable[[], Client]]:
    """Python's clients, and Java's where BARNABAS_KAFKA_JARS names its jars."""
    makers = dict(PYTHON_CLIENTS)
    if os.environ.get(JARS_VARIABLE):
        makers["java"] = _class("java_client", "JavaClient")
    return makers


def applies(scenario: Scenario, client: str, broker: str) -> bool:
    """Tools are run for the libraries that have them; others run on their kind of brokers."""
    if scenario.tools and client not in ("barnabas", "java"):
        return False
    return broker in scenario.brokers
