# C layout of calls and callers, for _direct_call_hot.py itself and for other compiled modules.

cimport cython
from cpython.object cimport PyObject

cdef extern from "Python.h":
    ctypedef struct PyAsyncMethods:
        void *am_send
    ctypedef struct PyTypeObject:
        PyAsyncMethods *tp_as_async
    int PyIter_Send(object iterator, object value, PyObject **result) except -1

cdef class DirectCall

cdef class DirectCaller:
    cpdef object _complete(self, DirectCall call)
    cpdef object _continue(self, DirectCall call)

@cython.final
cdef class DirectCall:
    cdef DirectCaller _caller
    cdef object _first
    cdef object _second
    cdef object _third
    cdef object _others
    cdef object _coroutine
    cdef bint _begun

    cdef object _begin(self)

cpdef DirectCall new_call(
    DirectCaller caller, object first, object second, object third, object others
)
