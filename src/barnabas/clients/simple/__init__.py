"""The low-level consumer: reads a partition from a given offset, without a group."""

from barnabas.clients.simple.consumer import SimpleConsumer
from barnabas.clients.simple.fetched import FetchedBatches, PartitionMetadata, PartitionOffset

__all__ = ["FetchedBatches", "PartitionMetadata", "PartitionOffset", "SimpleConsumer"]
