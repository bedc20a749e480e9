"""Serves a consumer's Fetch of one partition from the frame to the response, in one compiled call.

The common request of a consumer that keeps up with its producers: one partition, no session, a few
KB at the end of the log. `serve_single` returns None, and has changed nothing, for every other
request, also for one that must wait; the handler in `fetch` then serves it. So both must give the
same response; a property test compares them.

Compiled by Cython as it stands; works uncompiled too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

try:
    import cython
except ImportError:
    from barnabas.model import _cython_shim as cython

from barnabas.model.ids import Uuid
from barnabas.storage.log import Log

if cython.compiled:
    from cython.cimports.barnabas.broker.metrics._topic_counters_hot import TopicCounters
    from cython.cimports.barnabas.replication._partition_hot import PartitionFields
    from cython.cimports.barnabas.storage._log_short_paths_hot import read_small
    from cython.cimports.barnabas.storage._log_state_hot import FlusherState, LogState
    from cython.cimports.barnabas.wire._fetch_hot import SingleFetch, encode_read, single_fields
else:
    from barnabas.broker.metrics._topic_counters_hot import TopicCounters
    from barnabas.replication._partition_hot import PartitionFields
    from barnabas.storage._log_short_paths_hot import read_small
    from barnabas.storage._log_state_hot import FlusherState, LogState
    from barnabas.wire._fetch_hot import SingleFetch, encode_read, single_fields

if TYPE_CHECKING:
    from barnabas.broker.fetch_reading import FetchPorts

COMPILED: bool = cython.compiled

_IDS_FROM = cython.declare(cython.int, 13)
_NO_EPOCH = cython.declare(cython.int, -1)
_NO_SESSION = cython.declare(cython.int, 0)
# The least value of `fetch.max.bytes` that a broker accepts.
_LEAST_LIMIT = cython.declare(cython.Py_ssize_t, 1024)


def serve_single(services: FetchPorts, frame: memoryview) -> bytes | None:
    """Returns the frame of the response; None if the request is not the common case."""
    request: SingleFetch | None = single_fields(frame)
    if request is None:
        return None
    if request.session_id != _NO_SESSION or request.session_epoch != _NO_EPOCH:
        return None
    name = _name_of(services, request.version, request.topic)
    topics: dict[str, TopicCounters] = services.topic_metrics._topics
    partitions: dict[Any, Any] = services.replicas._partitions
    counted = topics.get(name)
    # A plain tuple is equal to the TopicPartition, and takes a third of the time to make.
    found = partitions.get((name, request.partition))
    if counted is None or found is None or not _may_read(found, request):
        return None
    log: LogState = found.log
    watermark: cython.longlong = log.high_watermark
    stable: cython.longlong = watermark
    if log.producers._open_txns or log.producers._unreplicated:
        stable = found.log.last_stable_offset
    bound: cython.longlong = stable if request.isolation_level else watermark
    offset: cython.longlong = request.fetch_offset
    if not log.log_start_offset <= offset < bound:
        return None
    limit: cython.longlong = min(request.partition_max_bytes, request.max_bytes)
    records: bytes | None = read_small(log, offset, limit, bound)
    if records is None or len(records) < request.min_bytes:
        return None
    if len(records) > _LEAST_LIMIT and len(records) > services.config["fetch.max.bytes"]:
        return None
    if request.isolation_level and found.log.aborted_transactions(offset, bound):
        return None
    counters: TopicCounters = counted
    counters.total_fetch += 1
    counters.bytes_out += len(records)
    return encode_read(request, watermark, stable, log.log_start_offset, records)


@cython.cfunc
def _may_read(partition: PartitionFields, request: SingleFetch) -> cython.bint:
    """Whether this broker leads the partition in the epoch that the consumer knows."""
    if not partition.is_leader or request.last_fetched_epoch != _NO_EPOCH:
        return False
    epoch: cython.longlong = request.current_leader_epoch
    if epoch not in (_NO_EPOCH, partition.leader_epoch) or type(partition.log) is not Log:
        return False
    log: LogState = partition.log
    flusher: FlusherState = log._flusher
    return not (log.health.failed or flusher.closed)


@cython.cfunc
def _name_of(services: Any, version: cython.int, topic: bytes) -> Any:
    """Returns the name of the topic, or None if it is unknown or not valid."""
    if version >= _IDS_FROM:
        return services.replicas._topic_names.get(Uuid(topic))
    try:
        return topic[1:].decode("utf-8")
    except UnicodeDecodeError:
        return None
