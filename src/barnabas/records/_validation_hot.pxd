# What _validation_hot.py offers to other compiled modules.

from barnabas.records._batch_header_hot cimport BatchHeader

cpdef BatchHeader accept_plain(memoryview buf, object rules, long long now_ms)
