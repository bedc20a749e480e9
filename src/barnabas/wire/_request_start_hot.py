"""Finds the body of a request: the header of the short paths of Produce and Fetch.

The flexible request header is API key, version, correlation id, client id and tags. `body_start`
accepts the common form, without tags and with a client id in ASCII. All other requests are left to
the general decoder.

Compiled by Cython as it stands; works uncompiled too.
"""

from __future__ import annotations

try:
    import cython
except ImportError:
    from barnabas.model import _cython_shim as cython

COMPILED: bool = cython.compiled

CLIENT_ID_AT = 8
"""Position of the length of the client id."""
_AT = cython.declare(cython.Py_ssize_t, 8)
_NULL = cython.declare(cython.int, 0xFFFF)
_NOT_ASCII = cython.declare(cython.int, 0x80)


def body_start(data: bytearray, size: cython.Py_ssize_t) -> cython.Py_ssize_t:
    """Returns where the body begins; 0 if the header has another form or may be invalid.

    `data` must reach to the end of the length of the client id.
    """
    length: cython.int = (data[_AT] << 8) | data[_AT + 1]
    pos: cython.Py_ssize_t = _AT + 2
    if length != _NULL:
        end: cython.Py_ssize_t = pos + length
        if end >= size:
            return 0
        while pos < end:
            if data[pos] >= _NOT_ASCII:  # the general decoder checks it
                return 0
            pos += 1
    return pos + 1 if pos < size and data[pos] == 0 else 0
