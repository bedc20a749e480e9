# C layout of Record, for _record_hot.py itself and for the decoder in _records_hot.

cdef class Record:
    cdef object _topic
    cdef int _partition
    cdef long long _offset
    cdef long long _timestamp
    cdef object _timestamp_type
    cdef object _key
    cdef object _value
    cdef object _headers
    cdef int _leader_epoch
