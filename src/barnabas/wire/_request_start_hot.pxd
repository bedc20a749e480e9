# What _request_start_hot.py offers to other compiled modules.

cpdef Py_ssize_t body_start(bytearray data, Py_ssize_t size) except -1
