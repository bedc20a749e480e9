"""The low-level consumer: reads a partition from a given offset, without a group."""

from barnabas.clients.core.cluster_metadata import PartitionMetadata
from barnabas.clients.simple.consumer import SimpleConsumer
from barnabas.clients.simple.requests import FetchedBatches, PartitionOffset

__all__ = ["FetchedBatches", "PartitionMetadata", "PartitionOffset", "SimpleConsumer"]
