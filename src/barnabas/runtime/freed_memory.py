"""Lets the C library keep freed memory for the next use.

Clients allocate and free a few megabytes of records again and again. By default malloc of glibc
returns free memory of 128 KB to the system, which must clear every page before it is used again.
Other C libraries ignore this.
"""

_MOST_BYTES = 16 * 1024 * 1024
"""glibc does not raise its limit for larger blocks."""


def keep_freed_memory(size: int) -> None:
    """Lets malloc keep about twice `size` bytes, for the whole process; at most 32 MB.

    glibc raises its limit to twice the largest block that was mapped and freed. The block is not
    written to, so this takes no memory.
    """
    bytearray(min(size, _MOST_BYTES))
