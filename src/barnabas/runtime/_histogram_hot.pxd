# C layout of the metrics that the hot path changes.

from cpython.array cimport array as CountArray

cdef class Counter:
    cdef public long long value

cdef class Histogram:
    cdef public long long count
    cdef public long long largest
    cdef long long _recent
    cdef object _carried
    cdef CountArray _counts
    cdef list _past
    cpdef object record(self, long long value)

cdef class RequestHistograms:
    cdef Histogram _size
    cdef Histogram _queue
    cdef Histogram _local
    cdef Histogram _remote
    cdef Histogram _total
    cpdef object record(self, long long size, long long queue_ns, long long local_ns)
