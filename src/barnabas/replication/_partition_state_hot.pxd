# C layout of the state of a partition that each append uses.

cdef class PartitionFields:
    cdef public object leading
    cdef public object log
    cdef public object settings
    cdef public list _listeners
    cdef public bint is_leader
    cdef public long long configured_min_insync
    cdef public long long leader_epoch
