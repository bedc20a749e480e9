# C layout of the state of a log that each append and read uses.

cdef class SegmentState:
    cdef public object _file
    cdef public object _largest
    cdef public object offsets
    cdef public object times
    cdef public long long _bytes_since_index
    cdef public long long base_offset
    cdef public long long created_ms
    cdef public long long first_timestamp
    cdef public long long index_interval
    cdef public long long size
    cdef public bint used

cdef class ReaderState:
    cdef public dict _positions
    cdef public SegmentState _end_segment
    cdef public long long _end_offset

cdef class LocalState:
    cdef public SegmentState active
    cdef public ReaderState reader
    cdef public object config
    cdef public long long jitter_ms
    cdef public long long log_end_offset

cdef class FlusherState:
    cdef public bint closed
    cdef public bint rolled
    cdef public long long unflushed_records

cdef class LogState:
    cdef public LocalState local
    cdef public FlusherState _flusher
    cdef public object epochs
    cdef public object health
    cdef public object producers
    cdef public list _changed
    cdef public bint _listed
    cdef public bint _modified
    cdef public long long high_watermark
    cdef public long long log_start_offset

cpdef void note_change(LogState log) except *

cpdef bint flush_due(LogState log) except -1
