# C layout of the state of a partition that each append uses, and the short path of an append.

from barnabas.records._batch_header_hot cimport BatchHeader

cdef class PartitionFields:
    cdef public object leading
    cdef public object log
    cdef public object settings
    cdef public list _listeners
    cdef public bint is_leader
    cdef public long long configured_min_insync
    cdef public long long leader_epoch

cpdef long long append_alone(
    PartitionFields partition, object batch, BatchHeader header, int acks, long long now_ms
) except? -2
