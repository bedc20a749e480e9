"""KeyPartitioner: the hash of the key modulo the number of partitions; a key is required."""

from collections.abc import Mapping
from typing import Any

from barnabas import BrokerError, ErrorCode
from barnabas.clients.producer import murmur2


class KeyPartitioner:
    def partition(
        self,
        topic: str,
        key: Any,
        key_bytes: bytes | None,
        value: Any,
        value_bytes: bytes | None,
        cluster: Any,
    ) -> int:
        count: int = cluster.partition_count_for_topic(topic)
        if key_bytes is None:
            raise BrokerError(ErrorCode.INVALID_RECORD, "key can not be null")
        return (murmur2(key_bytes) & 0x7FFFFFFF) % count

    def close(self) -> None:
        """Nothing to release."""

    def configure(self, configs: Mapping[str, Any]) -> None:
        """No settings of its own."""
