# What _leader_append_hot.py offers to other compiled modules.

from barnabas.records._batch_header_hot cimport BatchHeader
from barnabas.replication._partition_state_hot cimport PartitionFields

cpdef long long append_alone(
    PartitionFields partition, object batch, BatchHeader header, int acks, long long now_ms
) except? -2
