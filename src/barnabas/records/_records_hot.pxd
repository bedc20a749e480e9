# What _records_hot.py offers to other compiled modules.

from barnabas.records._batch_header_hot cimport BatchHeader
from barnabas.records._columns_hot cimport ArrowColumns

cdef tuple check_records(
    unsigned char* data, Py_ssize_t begin, Py_ssize_t end, BatchHeader header
)

cdef int append_records(
    unsigned char* data, Py_ssize_t begin, Py_ssize_t end, BatchHeader header,
    str topic, int partition, list out
) except? -1

cdef int add_records(
    unsigned char* data, Py_ssize_t begin, Py_ssize_t end, BatchHeader header,
    ArrowColumns columns
) except? -1
