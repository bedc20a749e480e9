# C layout of calls and callers, for _direct_call_hot.py itself and for other compiled modules.

cimport cython
from cpython.object cimport PyObject

cdef extern from "Python.h":
    ctypedef struct PyAsyncMethods:
        void *am_send
    ctypedef struct PyTypeObject:
        PyAsyncMethods *tp_as_async
    int PyIter_Send(object iterator, object value, PyObject **result) except -1

cdef class DirectCaller:
    cpdef object _complete(self, object arguments)
    cpdef object _continue(self, object arguments)

@cython.final
cdef class DirectCall:
    cdef DirectCaller _caller
    cdef object _arguments
    cdef object _coroutine
    cdef bint _begun

    cdef object _begin(self)

cpdef DirectCall new_call(DirectCaller caller, object arguments)
