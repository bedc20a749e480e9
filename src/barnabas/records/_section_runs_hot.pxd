# C layout of SectionRun, for _section_runs_hot.py itself and for _batches_hot.

cimport cython
from barnabas.records._sections_hot cimport SectionMemory

cdef struct Section:
    # The batch in the response.
    Py_ssize_t begin
    Py_ssize_t end
    # The decompressed records. The size is 0 until they are complete; -1 if `reader` must decide.
    unsigned char* data
    Py_ssize_t size

@cython.final
cdef class SectionRun:
    cdef unsigned char* _response
    cdef object _bytes
    cdef object _unpack
    cdef int _codec
    cdef bint _native
    cdef bint _check_crcs
    cdef Py_ssize_t _limit
    cdef Section* _sections
    cdef Py_ssize_t _count
    # The memory of section `n` is number `n % _slots`.
    cdef SectionMemory* _memories
    cdef list _pieces
    cdef Py_ssize_t _slots
    # The numbers of the next section to decompress, and of the next one to add to the columns.
    cdef Py_ssize_t _next
    cdef Py_ssize_t _added
    # Helpers that may still use this object.
    cdef Py_ssize_t _active
    cdef bint _closed

    cdef bint _append(self, Py_ssize_t begin, Py_ssize_t end) noexcept nogil
    cdef int _start(self, object data, object unpack, Py_ssize_t content, Py_ssize_t limit) except? -1
    cdef Section* _front(self) noexcept nogil
    cdef void _pass_by(self) noexcept nogil
    cdef int _unpack_some(self) except? -1
    cdef int _close(self) except? -1
    cdef Py_ssize_t _take(self) noexcept nogil
    cdef void _expand_all(self) noexcept nogil
    cdef void _expand(self, Py_ssize_t index) noexcept nogil
    cdef int _unpack_one(self, Py_ssize_t index) except? -1
    cdef bint _crc_ok(self, Section* section) noexcept nogil
