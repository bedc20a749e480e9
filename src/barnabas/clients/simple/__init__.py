"""The low-level consumer: a topic, a partition, an offset, a fetch size; no group."""

from barnabas.clients.simple.consumer import SimpleConsumer
from barnabas.clients.simple.fetched import FetchedBatches, PartitionMetadata, PartitionOffset

__all__ = ["FetchedBatches", "PartitionMetadata", "PartitionOffset", "SimpleConsumer"]
