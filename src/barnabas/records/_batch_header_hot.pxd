# C layout of BatchHeader, for _batch_header_hot.py itself and for the short paths of the broker.

cimport cython

@cython.final
cdef class BatchHeader:
    cdef public long long base_offset
    cdef public long long batch_length
    cdef public long long partition_leader_epoch
    cdef public long long magic
    cdef public long long crc
    cdef public long long attributes
    cdef public long long last_offset_delta
    cdef public long long base_timestamp
    cdef public long long max_timestamp
    cdef public long long producer_id
    cdef public long long producer_epoch
    cdef public long long base_sequence
    cdef public long long records_count

cdef BatchHeader header_at(const unsigned char* data)
