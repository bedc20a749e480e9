# What _records_hot.py offers to other compiled modules.

from barnabas.records._batch_header_hot cimport BatchHeader

cdef tuple check_records(
    unsigned char* data, Py_ssize_t begin, Py_ssize_t end, BatchHeader header
)

cdef int append_records(
    unsigned char* data, Py_ssize_t begin, Py_ssize_t end, BatchHeader header,
    str topic, int partition, list out
) except? -1
