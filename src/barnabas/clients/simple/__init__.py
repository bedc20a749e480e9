"""The low-level consumer: a topic, a partition, an offset, a fetch size; no group."""

from barnabas.clients.simple.consumer import SimpleConsumer
from barnabas.clients.simple.fetched import FetchedBatches, PartitionOffset

__all__ = ["FetchedBatches", "PartitionOffset", "SimpleConsumer"]
