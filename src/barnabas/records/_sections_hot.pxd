# What _sections_hot.py offers to other compiled modules.

cdef struct SectionMemory:
    # For one decompressed section at a time; NULL and 0 at the beginning, freed by its owner.
    unsigned char* data
    Py_ssize_t capacity

cdef Py_ssize_t expand_to(
    SectionMemory* memory, int codec, unsigned char* data, Py_ssize_t size, Py_ssize_t limit
) noexcept nogil
