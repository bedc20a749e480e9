"""Fixtures and options for tests that need a Kafka; loaded by pytest on its own.

Nothing of the broker or the clients is imported before a fixture is used. By default there is one
broker in process per test session (per worker under xdist), on a port of its own; with
`--kafka-external=host:port` the same tests run against a cluster elsewhere.
"""

from barnabas.pytest_plugin.async_fixtures import (
    async_kafka_admin,
    async_kafka_consumer,
    async_kafka_producer,
)
from barnabas.pytest_plugin.fixtures import (
    kafka,
    kafka_admin,
    kafka_bootstrap_servers,
    kafka_broker,
    kafka_cluster,
    kafka_consumer,
    kafka_consumer_factory,
    kafka_group,
    kafka_producer,
    kafka_topic,
    kafka_topic_factory,
)
from barnabas.pytest_plugin.options import pytest_addoption, pytest_configure
from barnabas.pytest_plugin.spark_fixtures import kafka_spark, kafka_streams

__all__ = [
    "async_kafka_admin",
    "async_kafka_consumer",
    "async_kafka_producer",
    "kafka",
    "kafka_admin",
    "kafka_bootstrap_servers",
    "kafka_broker",
    "kafka_cluster",
    "kafka_consumer",
    "kafka_consumer_factory",
    "kafka_group",
    "kafka_producer",
    "kafka_spark",
    "kafka_streams",
    "kafka_topic",
    "kafka_topic_factory",
    "pytest_addoption",
    "pytest_configure",
]
