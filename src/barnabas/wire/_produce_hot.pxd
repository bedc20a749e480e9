# What _produce_hot.py offers to other compiled modules.

cpdef tuple single_fields(memoryview frame)
cpdef bytes encode_appended(
    int correlation_id, bytes topic, int index, long long base_offset, long long log_start_offset
)
