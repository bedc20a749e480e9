# C layout of the short paths in _short_path_hot.py.

from barnabas.runtime._histogram_hot cimport Histogram, RequestHistograms

cdef class ShortPath:
    cdef public object serve
    cdef public tuple guards
    cdef public object failed
    cdef RequestHistograms _served
    cdef Histogram _send_time
    cdef dict _versions

cdef class ShortPaths:
    cdef public bint enabled
    cdef public dict paths
    cdef bint _system_clock
    cdef object _services
    cdef object _watch
    cdef object _now_ns
    cdef object _metrics
    cdef object _internal_error
    cdef long long _time_ns(self) except? -1
    cdef int _count(self, ShortPath path, int api_key, int version) except -1
