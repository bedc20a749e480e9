"""The producer: batches per partition, one sender, idempotence and transactions."""

from barnabas.clients.producer._futures_hot import SendFuture
from barnabas.clients.producer._key_hash_hot import murmur2
from barnabas.clients.producer.producer import Producer

__all__ = ["Producer", "SendFuture", "murmur2"]
