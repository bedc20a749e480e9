# What _log_short_paths_hot.py offers to other compiled modules.

from barnabas.records._batch_header_hot cimport BatchHeader
from barnabas.storage._log_state_hot cimport LogState

cpdef bint append_to_active(
    LogState log, object batch, BatchHeader header, long long leader_epoch, long long now_ms
) except -1
cpdef long long append_single(
    LogState log, object batch, BatchHeader header, long long leader_epoch, long long now_ms
) except? -2
cpdef bytes read_small(LogState log, long long offset, long long max_bytes, long long bound)
