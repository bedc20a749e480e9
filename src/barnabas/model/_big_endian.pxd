# Reads and writes big-endian numbers of Kafka's protocol and logs at a position in C memory.
#
# The caller has checked that the bytes exist. The functions are inlined into the compiled modules
# that import them; there is no Python module of this name.

cdef inline int u16(const unsigned char* data, Py_ssize_t at) noexcept nogil:
    return (data[at] << 8) | data[at + 1]

cdef inline int i16(const unsigned char* data, Py_ssize_t at) noexcept nogil:
    return <short>((data[at] << 8) | data[at + 1])

cdef inline unsigned int u32(const unsigned char* data, Py_ssize_t at) noexcept nogil:
    return (
        (<unsigned int>data[at] << 24) | (<unsigned int>data[at + 1] << 16)
        | (<unsigned int>data[at + 2] << 8) | <unsigned int>data[at + 3]
    )

cdef inline int i32(const unsigned char* data, Py_ssize_t at) noexcept nogil:
    return <int>u32(data, at)

cdef inline long long i64(const unsigned char* data, Py_ssize_t at) noexcept nogil:
    return <long long>(
        (<unsigned long long>u32(data, at) << 32) | <unsigned long long>u32(data, at + 4)
    )

cdef inline void put_i32(unsigned char* data, Py_ssize_t at, int value) noexcept nogil:
    cdef unsigned int bits = <unsigned int>value
    data[at] = <unsigned char>(bits >> 24)
    data[at + 1] = <unsigned char>(bits >> 16)
    data[at + 2] = <unsigned char>(bits >> 8)
    data[at + 3] = <unsigned char>bits

cdef inline void put_i64(unsigned char* data, Py_ssize_t at, long long value) noexcept nogil:
    put_i32(data, at, <int>(value >> 32))
    put_i32(data, at + 4, <int>value)
