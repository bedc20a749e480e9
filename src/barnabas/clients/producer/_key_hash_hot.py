"""Kafka's hash of a key, which chooses the partition of a record. Cython compiles it.

It is the 32-bit MurmurHash2 of Java's producer (`Utils.murmur2`): all producers of a topic must
agree on it, or records of one key end in several partitions. The `.pxd` has the C types for
`_send_hot`, which hashes the key of each record. It also runs as plain Python, slower.
"""

from __future__ import annotations

try:
    import cython
except ImportError:
    from barnabas.model import _cython_shim as cython

if cython.compiled:
    from cython.cimports.cpython.bytes import PyBytes_AS_STRING

COMPILED: bool = cython.compiled


def murmur2(data: bytes) -> int:
    """Returns Kafka's hash of a key, as an unsigned 32-bit number (seed 0x9747b28c).

    >>> murmur2(b"21")
    3321034988
    """
    return hash_key(data)


@cython.ccall
@cython.exceptval(-1, check=True)
def hash_key(key: bytes) -> cython.uint:
    """Returns the hash of a key."""
    if cython.compiled:
        return hash_bytes(cython.cast(cython.p_uchar, PyBytes_AS_STRING(key)), len(key))
    return hash_bytes(key, len(key))


@cython.cfunc
@cython.exceptval(check=False)
def hash_bytes(data: cython.p_uchar, length: cython.Py_ssize_t) -> cython.uint:
    """Returns the hash of `length` bytes."""
    mixer: cython.ulonglong = 0x5BD1E995
    mask: cython.ulonglong = 0xFFFFFFFF
    # A typed variable: as a Python integer it would make the hash six times slower.
    seed: cython.ulonglong = 0x9747B28C
    value: cython.ulonglong = (seed ^ cython.cast(cython.ulonglong, length)) & mask
    word: cython.ulonglong
    index: cython.Py_ssize_t = 0
    whole: cython.Py_ssize_t = length - length % 4
    while index < whole:
        word = (
            data[index]
            | (cython.cast(cython.ulonglong, data[index + 1]) << 8)
            | (cython.cast(cython.ulonglong, data[index + 2]) << 16)
            | (cython.cast(cython.ulonglong, data[index + 3]) << 24)
        )
        word = (word * mixer) & mask
        word ^= word >> 24
        word = (word * mixer) & mask
        value = ((value * mixer) & mask) ^ word
        index += 4
    rest: cython.Py_ssize_t = length - whole
    if rest == 3:
        value ^= cython.cast(cython.ulonglong, data[whole + 2]) << 16
    if rest >= 2:
        value ^= cython.cast(cython.ulonglong, data[whole + 1]) << 8
    if rest >= 1:
        value ^= data[whole]
        value = (value * mixer) & mask
    value ^= value >> 13
    value = (value * mixer) & mask
    value ^= value >> 15
    return value
