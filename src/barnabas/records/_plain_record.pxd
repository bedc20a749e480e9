# Reads a plain record in C: short numbers and no headers. Almost all records are plain.
#
# The functions are inlined into the compiled modules that import them; there is no Python module of
# this name. They report no errors: the caller passes a record that is not plain to the general
# decoder, `RecordCursor` of `_records_hot`.

cdef struct PlainRecord:
    long long time_delta
    long long offset_delta
    Py_ssize_t key_start
    Py_ssize_t key_size  # -1: null
    Py_ssize_t value_start
    Py_ssize_t value_size  # -1: null

cdef enum:
    # Bytes that must be readable: three for each number before the key, and the attributes.
    PLAIN_HEAD = 13

# Returns the raw value of a varint of up to three bytes times four, plus its size; else 0.
#
# The raw value is in zigzag form: bit 2 is set if it is negative; otherwise a shift by three bits
# gives the value.
cdef inline long long short_number(const unsigned char* data, Py_ssize_t at) noexcept nogil:
    cdef long long byte = data[at]
    if byte < 0x80:
        return byte << 2 | 1
    byte = (byte & 0x7F) | (data[at + 1] << 7)
    if data[at + 1] < 0x80:
        return byte << 2 | 2
    if data[at + 2] < 0x80:
        return ((byte & 0x3FFF) | (data[at + 2] << 14)) << 2 | 3
    return 0

# Reads the record at `pos` of records that end at `end`; returns its end, 0 if it is not plain.
#
# `PLAIN_HEAD` bytes from `pos` on must be readable.
cdef inline Py_ssize_t plain_record(
    const unsigned char* data, Py_ssize_t pos, Py_ssize_t end, PlainRecord* record
) noexcept nogil:
    cdef long long size = short_number(data, pos)
    cdef Py_ssize_t at = pos + (size & 3)
    cdef Py_ssize_t stop = at + (size >> 3)
    if size == 0 or size & 4 or stop > end:
        return 0
    cdef long long time = short_number(data, at + 1)
    at += 1 + (time & 3)
    cdef long long offset = short_number(data, at)
    at += offset & 3
    cdef long long key = short_number(data, at)
    if time == 0 or offset == 0 or offset & 4 or key == 0:
        return 0
    record.time_delta = (time >> 3) ^ -((time >> 2) & 1)
    record.offset_delta = offset >> 3
    record.key_start = at + (key & 3)
    record.key_size = key >> 3
    at = record.key_start + record.key_size
    if key & 4:
        if key >> 2 != 1:
            return 0
        record.key_size = -1
        at = record.key_start
    # Bytes after the record must not be read: it may be the last one of the buffer.
    if at > stop - 3 and (at > stop - 2 or data[at] >= 0x80):
        return 0
    cdef long long value = short_number(data, at)
    record.value_start = at + (value & 3)
    record.value_size = value >> 3
    at = record.value_start + record.value_size
    if value & 4:
        if value >> 2 != 1:
            return 0
        record.value_size = -1
        at = record.value_start
    if value == 0 or at != stop - 1 or data[at] != 0:
        return 0
    return stop
