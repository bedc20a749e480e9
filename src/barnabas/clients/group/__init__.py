"""The consumer: assigned partitions or a group's share of topics, in records or Arrow batches."""

from barnabas.clients.group.consumer import Consumer

__all__ = ["Consumer"]
