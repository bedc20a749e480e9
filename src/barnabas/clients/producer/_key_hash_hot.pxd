# C functions of _key_hash_hot.py, for itself and for _send_hot.

cpdef unsigned int hash_key(bytes key) except? -1
cdef unsigned int hash_bytes(unsigned char* data, Py_ssize_t length) noexcept
