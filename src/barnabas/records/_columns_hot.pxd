# C layout of the classes in _columns_hot.py, for itself, _records_hot and _batches_hot.

cimport cython

@cython.final
cdef class Bytes:
    cdef bytearray _array
    cdef unsigned char* _out
    cdef Py_ssize_t _capacity
    cdef Py_ssize_t _size

    cdef int _grow(self, Py_ssize_t extra) except? -1
    cdef int _room(self, Py_ssize_t extra) except? -1
    cdef int _put_i64(self, long long value) except? -1
    cdef int _put_i32(self, int value) except? -1
    cdef int _put_slice(self, unsigned char* data, Py_ssize_t start, Py_ssize_t size) except? -1

@cython.final
cdef class BinaryColumn:
    cdef Bytes _bits
    cdef Bytes _ends
    cdef Bytes _bytes
    cdef int _count
    cdef int _nulls

    cdef int _put(self, unsigned char* data, Py_ssize_t start, Py_ssize_t size) except? -1
    cdef void _added(self, int rows, Py_ssize_t size, bint nulls) noexcept nogil
    cdef void _truncate(self, int count, int nulls, Py_ssize_t size) noexcept nogil

@cython.final
cdef class ArrowColumns:
    cdef int _count
    cdef Bytes _offsets
    cdef Bytes _timestamps
    cdef BinaryColumn _keys
    cdef BinaryColumn _values
    cdef Bytes _header_ends
    cdef BinaryColumn _header_keys
    cdef BinaryColumn _header_values
    # The lowest timestamp, at most 0; also of rows that were removed again.
    cdef long long _earliest
    # The last bytes of the data; see `_with_room_behind`.
    cdef Bytes _tail
    # Whether `_copy_plain` stopped at a record that is not plain.
    cdef bint _stopped
    # The end of the columns at `_begin_batch`.
    cdef int _batch_count
    cdef int _batch_nulls
    cdef Py_ssize_t _batch_keys
    cdef Py_ssize_t _batch_values

    cdef int _add(
        self, unsigned char* data, long long offset, long long timestamp,
        Py_ssize_t key_start, Py_ssize_t key_size, Py_ssize_t value_start, Py_ssize_t value_size
    ) except? -1
    cdef int _end_row(self) except? -1
    cdef Py_ssize_t _add_plain(
        self, unsigned char* data, Py_ssize_t pos, Py_ssize_t end, int rows,
        long long base_offset, long long last_delta, long long base_time, long long time_factor
    ) except? -1
    cdef Py_ssize_t _copy_plain(
        self, unsigned char* data, Py_ssize_t pos, Py_ssize_t until, Py_ssize_t end, int rows,
        long long base_offset, long long last_delta, long long base_time, long long time_factor
    ) noexcept nogil
    cdef unsigned char* _with_room_behind(
        self, unsigned char* data, Py_ssize_t pos, Py_ssize_t end
    ) noexcept nogil
    cdef int _room(self, Py_ssize_t rows, Py_ssize_t size) except? -1
    cdef bint _has_room(self, Py_ssize_t rows, Py_ssize_t size) noexcept nogil
    cdef void _added(
        self, int rows, Py_ssize_t key_size, Py_ssize_t value_size, bint keyless
    ) noexcept nogil
    cdef void _begin_batch(self) noexcept nogil
    cdef void _cut_batch(self) noexcept nogil
