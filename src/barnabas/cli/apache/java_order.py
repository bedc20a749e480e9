"""The order in which Apache's tools print what they keep in a Java HashMap."""

from collections.abc import Iterable

from barnabas.model.java_hash import java_string_hash

_FIRST_CAPACITY = 16


def hash_map_order(keys: Iterable[str]) -> list[str]:
    """Keys in a HashMap's order, given in the order they were put there.

    >>> hash_map_order(["cleanup.policy", "segment.bytes", "compression.type"])
    ['compression.type', 'cleanup.policy', 'segment.bytes']
    """
    keys = list(keys)
    capacity = _FIRST_CAPACITY
    while len(keys) > capacity * 3 // 4:
        capacity *= 2

    def bucket(key: str) -> int:
        value = java_string_hash(key) & 0xFFFFFFFF
        return (value ^ value >> 16) & (capacity - 1)

    return sorted(keys, key=bucket)
