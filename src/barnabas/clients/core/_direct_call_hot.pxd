# C layout of DirectCall, for _direct_call_hot.py itself and for its subclasses in other modules.

from cpython.object cimport PyObject

cdef extern from "Python.h":
    ctypedef struct PyAsyncMethods:
        void *am_send
    ctypedef struct PyTypeObject:
        PyAsyncMethods *tp_as_async
    int PyIter_Send(object iterator, object value, PyObject **result) except -1

cdef class DirectCall:
    cdef object _coroutine
    cdef bint _begun

    cpdef object _complete(self)
    cpdef object _continue(self)
    cdef object _begin(self)
