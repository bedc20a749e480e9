# What _produce_hot.py offers to other compiled modules, and the C layout of its classes.

cimport cython

cpdef tuple single_fields(memoryview frame)
cpdef bytes encode_appended(
    int correlation_id, bytes topic, int index, long long base_offset, long long log_start_offset
)

@cython.final
cdef class AppendedBatch:
    cdef readonly long long base_offset
    cdef readonly long long log_append_time_ms
    cdef readonly int throttle_time_ms

@cython.final
cdef class SingleBatchForm:
    cdef readonly int version
    cdef bytes _start
    cdef bytes _tail
    cdef bytes _response
