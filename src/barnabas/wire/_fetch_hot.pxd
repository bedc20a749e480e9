# C layout of SingleFetch, and what _fetch_hot.py offers to other compiled modules.

cdef class SingleFetch:
    cdef public bytes topic
    cdef public long long fetch_offset
    cdef public int version
    cdef public int correlation_id
    cdef public int min_bytes
    cdef public int max_bytes
    cdef public int isolation_level
    cdef public int session_id
    cdef public int session_epoch
    cdef public int partition
    cdef public int current_leader_epoch
    cdef public int last_fetched_epoch
    cdef public int partition_max_bytes

cpdef SingleFetch single_fields(memoryview frame)
cpdef bytes encode_read(
    SingleFetch request,
    long long high_watermark,
    long long last_stable_offset,
    long long log_start_offset,
    bytes records,
)
