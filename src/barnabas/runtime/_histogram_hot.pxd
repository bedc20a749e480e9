# C layout of the metrics that the hot path changes.

cdef class Counter:
    cdef public long long value

cdef class Histogram:
    cdef public long long count
    cdef public object total
    cdef public long long largest
    cdef list _counts
    cdef list _past
    cpdef object record(self, long long value)
