"""Serves a Produce request of one batch from the frame to the response, in one compiled call.

The common request of a producer that sends few records: one topic, one partition, one correct
uncompressed batch without a transaction, to a partition without followers. `serve_single` returns
None, and has changed nothing, for every other request; the handler in `produce` then serves it. So
both must give the same response and the same log; a property test compares them.

Compiled by Cython as it stands; works uncompiled too. Through message objects and the functions of
the handler such a request took twice the time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

try:
    import cython
except ImportError:
    from barnabas.model import _cython_shim as cython

from barnabas.model.ids import INTERNAL_TOPICS, Uuid

if cython.compiled:
    from cython.cimports.barnabas.broker.metrics._topic_counters_hot import TopicCounters
    from cython.cimports.barnabas.records._batch_header_hot import BatchHeader
    from cython.cimports.barnabas.records._validation_hot import accept_plain
    from cython.cimports.barnabas.replication._partition_hot import PartitionFields, append_alone
    from cython.cimports.barnabas.storage._log_state_hot import LogState
    from cython.cimports.barnabas.wire._produce_hot import encode_appended, single_fields
else:
    from barnabas.broker.metrics._topic_counters_hot import TopicCounters
    from barnabas.records._batch_header_hot import BatchHeader
    from barnabas.records._validation_hot import accept_plain
    from barnabas.replication._partition_hot import PartitionFields, append_alone
    from barnabas.storage._log_state_hot import LogState
    from barnabas.wire._produce_hot import encode_appended, single_fields

if TYPE_CHECKING:
    from barnabas.broker.handler import RequestPorts
    from barnabas.broker.metrics.topic_metrics import TopicMetrics
    from barnabas.broker.produce_rules import ProduceRules, TopicRules
    from barnabas.replication.replica_manager import ReplicaManager
    from barnabas.runtime.clock import Clock

    class SingleProducePorts(RequestPorts, Protocol):
        """Parts of the broker that the short path uses; all of them are among `ProducePorts`."""

        clock: Clock
        produce_rules: ProduceRules
        replicas: ReplicaManager
        topic_metrics: TopicMetrics


COMPILED: bool = cython.compiled

_IDS_FROM = cython.declare(cython.int, 13)
_TRANSACTIONAL = cython.declare(cython.int, 0x10)


def serve_single(services: SingleProducePorts, frame: memoryview) -> bytes | None:
    """Returns the frame of the response; None if the request is not the common case.

    Raises BrokerError if the append has failed; then the request must not be served again.
    """
    fields = single_fields(frame)
    if fields is None:
        return None
    version, correlation_id, acks, topic, index, begin, stop = fields
    if acks != -1 and acks != 1:
        return None
    name = _name_of(services, version, topic)
    if name is None or name in INTERNAL_TOPICS:
        return None
    partitions: dict[Any, Any] = services.replicas._partitions
    all_rules: dict[str, TopicRules] = services.produce_rules._rules
    topics: dict[str, TopicCounters] = services.topic_metrics._topics
    # A plain tuple is equal to the TopicPartition, and takes a third of the time to make.
    found = partitions.get((name, index))
    rules = all_rules.get(name)
    counted = topics.get(name)
    if found is None or rules is None or counted is None:
        return None
    accepted = rules.current
    if rules.codec is not None or not accepted.deep:
        return None
    now_ms: cython.longlong = services.clock.now_ms()
    batch = frame[begin:stop]
    header: BatchHeader | None = accept_plain(batch, accepted, now_ms)
    if header is None or header.attributes & _TRANSACTIONAL:
        return None
    partition: PartitionFields = found
    first: cython.longlong = append_alone(partition, batch, header, acks, now_ms)
    if first < 0:
        return None
    counters: TopicCounters = counted
    counters.total_produce += 1
    counters.messages_in += header.records_count
    counters.bytes_in += len(batch)
    if now_ms >= counters.trace_due_ms:
        counters.find_trace(batch, now_ms)
    log: LogState = partition.log
    return encode_appended(correlation_id, topic, index, first, log.log_start_offset)


@cython.cfunc
def _name_of(services: Any, version: cython.int, topic: bytes) -> Any:
    """Returns the name of the topic, or None if it is unknown or not valid."""
    if version >= _IDS_FROM:
        return services.metadata.topic_name(Uuid(topic))
    try:
        return topic[1:].decode("utf-8")
    except UnicodeDecodeError:
        return None
