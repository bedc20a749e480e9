# C layout of a meter.

cdef class Meter:
    cdef public long long created_ms
    cdef public long long count
    cdef public long long total
    cdef long long _largest
    cdef long long _smallest
    cdef list _bases
    cdef list _peaks
