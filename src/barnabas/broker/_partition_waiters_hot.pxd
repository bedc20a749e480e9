# C layout of PartitionWaiters.

cdef class PartitionWaiters:
    cdef object _produce
    cdef object _fetch
    cdef object _call_soon
    cdef object _after_append
    cdef object _leader_changed
    cdef dict _moved
    cdef dict _produce_watched
    cdef dict _fetch_watched
