# C layout of SectionBuffer, for _sections_hot.py itself and for _batches_hot.

cimport cython

@cython.final
cdef class SectionBuffer:
    cdef unsigned char* _data
    cdef Py_ssize_t _capacity

    cdef bint _reserve(self, Py_ssize_t room) noexcept nogil
    cdef Py_ssize_t _expand(
        self, int codec, unsigned char* data, Py_ssize_t size, Py_ssize_t limit
    ) noexcept nogil
