# C layout of RecordAppender, for _append_hot.py itself and for the producer's _send_hot.

cimport cython

@cython.final
cdef class RecordAppender:
    cdef bytearray _array
    cdef unsigned char* _data
    cdef Py_ssize_t _capacity
    cdef Py_ssize_t _size
    cdef int _count
    cdef Py_ssize_t _largest
    cdef int _next_delta
    cdef bint _based
    cdef bint _closed
    cdef long long _base_timestamp
    cdef long long _max_timestamp

    cpdef int try_append(
        self, long long timestamp_ms, object key, object value, object headers, Py_ssize_t limit
    ) except? -2
    cdef long long _timestamp_delta(self, long long timestamp_ms) noexcept
    cdef Py_ssize_t _body_size(
        self, long long timestamp_ms, bytes key, bytes value, list headers
    ) except? -1
    cdef int _append(
        self, long long timestamp_ms, bytes key, bytes value, list headers, Py_ssize_t limit
    ) except? -2
    cdef void _write(
        self, long long timestamp_ms, bytes key, bytes value, list headers, Py_ssize_t body
    ) except *
    cdef void _note_time(self, long long timestamp_ms) noexcept
    cdef void _put_varint(self, long long value) noexcept
    cdef void _put_field(self, bytes data) except *
    cdef void _grow(self, Py_ssize_t needed) except *
