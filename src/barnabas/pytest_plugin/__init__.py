"""Pytest fixtures and options for tests that need Kafka; pytest loads this plugin automatically.

Broker and clients are imported when a fixture is first used. By default each test session (each
worker with xdist) has one in-process broker on its own port. With `--kafka-external=host:port` the
same tests run against another cluster.
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
    pytest_addoption,
    pytest_configure,
)
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
