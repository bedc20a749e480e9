# C layout of the counts of a topic.

cdef class TopicCounters:
    cdef public long long messages_in
    cdef public long long bytes_in
    cdef public long long bytes_out
    cdef public long long bytes_rejected
    cdef public long long replication_bytes_in
    cdef public long long replication_bytes_out
    cdef public long long failed_produce
    cdef public long long failed_fetch
    cdef public long long total_produce
    cdef public long long total_fetch
    cdef public object trace
    cdef public long long trace_due_ms
