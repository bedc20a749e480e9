"""What the old high-level consumer keeps below /consumers.

Owners are plain thread ids and offsets plain decimal text, so only the registration of a
consumer has a class of its own.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self

from barnabas.zk.znodes import decode_json, encode_json


@dataclass(frozen=True, slots=True)
class ConsumerNode:
    """/consumers/G/ids/ID: topics with their numbers of streams.

    `pattern` is `static`, or `white_list`/`black_list` with the filter as the only topic.
    """

    subscription: Mapping[str, int]
    pattern: str = "static"
    timestamp_ms: int = 0

    def encode(self) -> bytes:
        return encode_json(
            {
                "version": 1,
                "subscription": dict(self.subscription),
                "pattern": self.pattern,
                "timestamp": str(self.timestamp_ms),
            }
        )

    @classmethod
    def decode(cls, data: bytes) -> Self:
        value = decode_json(data)
        subscription = {str(topic): int(n) for topic, n in value["subscription"].items()}
        return cls(subscription, str(value["pattern"]), int(value.get("timestamp", 0)))


def encode_owner(thread_id: str) -> bytes:
    return thread_id.encode()


def decode_owner(data: bytes) -> str:
    return data.decode()


def encode_offset(offset: int) -> bytes:
    return str(offset).encode()


def decode_offset(data: bytes) -> int:
    return int(data)
