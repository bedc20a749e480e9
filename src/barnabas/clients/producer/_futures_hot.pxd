# C layout of the futures in _futures_hot.py, for itself and for _send_hot, which creates them.

cimport cython

@cython.final
cdef class SendFuture:
    cdef object _batch
    cdef object _on_delivery
    cdef int _delta
    cdef long long _timestamp

    cdef object _metadata(self)
    cdef object _add(self, object callback)

@cython.final
cdef class Delivery:
    cdef object _batch
    cdef object _loop
    cdef object _future
    cdef int _delta
    cdef long long _timestamp

    cdef SendFuture _sent(self)
    cpdef object _awaited(self)

cpdef SendFuture future_of(object batch, int delta, long long timestamp)
cpdef Delivery delivery_of(object batch, int delta, long long timestamp, object loop)
