# What _clock_hot.py offers to other compiled modules.

cpdef long long perf_ns() except? -1
