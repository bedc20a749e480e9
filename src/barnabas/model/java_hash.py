"""Java's hash functions where the protocol rests on them: String.hashCode and murmur2.

`String.hashCode` places groups and transactional ids on coordinator partitions and orders the old
consumer's assignments; murmur2 places keyed records. Both must equal Java's to the bit.
"""

from functools import lru_cache


def java_string_hash(text: str) -> int:
    """`text.hashCode()` as a signed 32-bit number, over UTF-16 code units as Java counts them.

    >>> java_string_hash("hello")
    99162322
    """
    units = text.encode("utf-16-be")
    value = 0
    for index in range(0, len(units), 2):
        value = (value * 31 + (units[index] << 8) + units[index + 1]) & 0xFFFFFFFF
    return value - 0x1_0000_0000 if value >= 0x8000_0000 else value


def java_abs(value: int) -> int:
    """Kafka's Utils.abs: the most negative number becomes 0, not itself."""
    return 0 if value == -0x8000_0000 else abs(value)


@lru_cache(maxsize=4096)  # each step of a transaction asks, for the same two ids
def coordinator_partition(key: str, partitions: int) -> int:
    """The partition of a coordinator topic that owns this group or transactional id.

    >>> coordinator_partition("my-group", 50)
    12
    """
    return java_abs(java_string_hash(key)) % partitions
