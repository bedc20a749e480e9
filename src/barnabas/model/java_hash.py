"""Java's String.hashCode, on which parts of the protocol depend.

It maps groups and transactional ids to partitions of the coordinator topics and orders the
assignments of the ZooKeeper consumer. The results must be identical to Java's.
"""

from functools import lru_cache


def java_string_hash(text: str) -> int:
    """Returns Java's `text.hashCode()`: a signed 32-bit number over UTF-16 code units.

    >>> java_string_hash("hello")
    99162322
    """
    units = text.encode("utf-16-be")
    value = 0
    for index in range(0, len(units), 2):
        value = (value * 31 + (units[index] << 8) + units[index + 1]) & 0xFFFFFFFF
    return value - 0x1_0000_0000 if value >= 0x8000_0000 else value


def java_abs(value: int) -> int:
    """Returns the same as Kafka's Utils.abs: 0 for the smallest int32."""
    return 0 if value == -0x8000_0000 else abs(value)


@lru_cache(maxsize=4096)  # called in each step of a transaction, with the same two ids
def coordinator_partition(key: str, partitions: int) -> int:
    """Returns the coordinator topic's partition for a group or transactional id.

    >>> coordinator_partition("my-group", 50)
    12
    """
    return java_abs(java_string_hash(key)) % partitions
