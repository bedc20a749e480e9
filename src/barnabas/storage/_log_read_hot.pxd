# What _log_read_hot.py offers to other compiled modules.

from barnabas.storage._log_state_hot cimport LogState

cpdef bytes read_small(LogState log, long long offset, long long max_bytes, long long bound)
