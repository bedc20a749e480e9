"""Declarations of the broker's metrics: names, units, labels and descriptions.

The names are Kafka's JMX object names where Kafka has the metric; `docs/metrics.md` is made from
this module. Names that start with `barnabas_` belong to metrics that Kafka does not have.
"""

from barnabas.runtime.metrics import Metric, MetricKind

COUNTER, GAUGE, HISTOGRAM = MetricKind.COUNTER, MetricKind.GAUGE, MetricKind.HISTOGRAM


def _topic(name: str, unit: str, description: str) -> Metric:
    bean = f"kafka.server:type=BrokerTopicMetrics,name={name}"
    return Metric(bean, COUNTER, unit, description, ("topic",))


# --- records and bytes by topic; the sample without a topic is the sum of all topics ------------

MESSAGES_IN = _topic("MessagesInPerSec", "records", "Records received from producers.")
BYTES_IN = _topic("BytesInPerSec", "bytes", "Bytes received from producers.")
BYTES_OUT = _topic("BytesOutPerSec", "bytes", "Bytes sent to consumers.")
BYTES_REJECTED = _topic("BytesRejectedPerSec", "bytes", "Bytes of rejected record batches.")
REPLICATION_BYTES_IN = _topic(
    "ReplicationBytesInPerSec", "bytes", "Bytes received from leaders by replication."
)
REPLICATION_BYTES_OUT = _topic(
    "ReplicationBytesOutPerSec", "bytes", "Bytes sent to followers by replication."
)
FAILED_PRODUCE = _topic(
    "FailedProduceRequestsPerSec", "requests", "Partitions of produce requests that failed."
)
FAILED_FETCH = _topic(
    "FailedFetchRequestsPerSec", "requests", "Partitions of fetch requests that failed."
)
TOTAL_PRODUCE = _topic("TotalProduceRequestsPerSec", "requests", "Partitions of produce requests.")
TOTAL_FETCH = _topic(
    "TotalFetchRequestsPerSec", "requests", "Partitions of fetch requests with records or an error."
)

# --- requests ----------------------------------------------------------------------------------

_REQUEST = "kafka.network:type=RequestMetrics,name="
REQUESTS = Metric(
    _REQUEST + "RequestsPerSec",
    COUNTER,
    "requests",
    "Requests by API and version.",
    ("request", "version"),
)
REQUEST_BYTES = Metric(
    _REQUEST + "RequestBytes", HISTOGRAM, "bytes", "Size of requests.", ("request",)
)
QUEUE_TIME = Metric(
    _REQUEST + "RequestQueueTimeMs",
    HISTOGRAM,
    "ms",
    "Time in which the request waited after it was read from the socket: for earlier requests of "
    "its connection, or while the connection is throttled.",
    ("request",),
)
LOCAL_TIME = Metric(
    _REQUEST + "LocalTimeMs",
    HISTOGRAM,
    "ms",
    "Time in which this broker decoded and handled the request.",
    ("request",),
)
REMOTE_TIME = Metric(
    _REQUEST + "RemoteTimeMs",
    HISTOGRAM,
    "ms",
    "Time in which the request waited for followers, new data, or the metadata tree.",
    ("request",),
)
TOTAL_TIME = Metric(
    _REQUEST + "TotalTimeMs",
    HISTOGRAM,
    "ms",
    "Time from the start of handling to the complete response.",
    ("request",),
)
SEND_TIME = Metric(
    _REQUEST + "ResponseSendTimeMs",
    HISTOGRAM,
    "ms",
    "Time until the operating system has taken all bytes of the response; long for clients that "
    "read slowly.",
    ("request",),
)
SLOW_REQUESTS = Metric(
    "barnabas_loop_blocking_requests",
    COUNTER,
    "requests",
    "Requests that blocked the event loop for more than 50 ms.",
    ("request",),
)
PURGATORY_SIZE = Metric(
    "kafka.server:type=DelayedOperationPurgatory,name=PurgatorySize",
    GAUGE,
    "requests",
    "Requests that wait for followers (Produce) or for new data (Fetch).",
    ("delayedOperation",),
)

# --- connections -------------------------------------------------------------------------------

CONNECTIONS = Metric(
    "kafka.server:type=socket-server-metrics,name=connection-count",
    GAUGE,
    "connections",
    "Open connections by listener.",
    ("listener",),
)
CLIENTS = Metric(
    "kafka.server:type=socket-server-metrics,name=connections",
    GAUGE,
    "connections",
    "Open connections by the client software that ApiVersions named.",
    ("listener", "clientSoftwareName", "clientSoftwareVersion"),
)
REFUSED_CONNECTIONS = Metric(
    "barnabas_refused_connections",
    COUNTER,
    "connections",
    "Connections that the broker closed, by reason.",
    ("reason",),
)

# --- replicas ----------------------------------------------------------------------------------

_REPLICAS = "kafka.server:type=ReplicaManager,name="
LEADER_COUNT = Metric(_REPLICAS + "LeaderCount", GAUGE, "partitions", "Partitions led here.")
PARTITION_COUNT = Metric(_REPLICAS + "PartitionCount", GAUGE, "partitions", "Replicas here.")
OFFLINE_REPLICAS = Metric(
    _REPLICAS + "OfflineReplicaCount", GAUGE, "partitions", "Replicas on failed log directories."
)
UNDER_REPLICATED = Metric(
    _REPLICAS + "UnderReplicatedPartitions",
    GAUGE,
    "partitions",
    "Partitions led here whose ISR lacks a replica.",
)
UNDER_MIN_ISR = Metric(
    _REPLICAS + "UnderMinIsrPartitionCount",
    GAUGE,
    "partitions",
    "Partitions led here with fewer in-sync replicas than min.insync.replicas.",
)
AT_MIN_ISR = Metric(
    _REPLICAS + "AtMinIsrPartitionCount",
    GAUGE,
    "partitions",
    "Partitions led here with exactly min.insync.replicas in-sync replicas.",
)
ISR_SHRINKS = Metric(
    _REPLICAS + "IsrShrinksPerSec", COUNTER, "changes", "ISR changes that removed a replica."
)
ISR_EXPANDS = Metric(
    _REPLICAS + "IsrExpandsPerSec", COUNTER, "changes", "ISR changes that added a replica."
)
FAILED_ISR_UPDATES = Metric(
    _REPLICAS + "FailedIsrUpdatesPerSec",
    COUNTER,
    "changes",
    "ISR changes that the controller rejected.",
)
PARTITION_UNDER_REPLICATED = Metric(
    "kafka.cluster:type=Partition,name=UnderReplicated",
    GAUGE,
    "0 or 1",
    "Whether the ISR of this partition lacks a replica.",
    ("topic", "partition"),
)
PARTITION_IN_SYNC = Metric(
    "kafka.cluster:type=Partition,name=InSyncReplicasCount",
    GAUGE,
    "replicas",
    "In-sync replicas of a partition led here.",
    ("topic", "partition"),
)

# --- logs --------------------------------------------------------------------------------------

_LOG = "kafka.log:type=Log,name="
_BY_PARTITION = ("topic", "partition")
LOG_SIZE = Metric(_LOG + "Size", GAUGE, "bytes", "Size of a log.", _BY_PARTITION)
LOG_SEGMENTS = Metric(
    _LOG + "NumLogSegments", GAUGE, "segments", "Segments of a log.", _BY_PARTITION
)
LOG_START = Metric(
    _LOG + "LogStartOffset", GAUGE, "offset", "First offset of a log.", _BY_PARTITION
)
LOG_END = Metric(_LOG + "LogEndOffset", GAUGE, "offset", "Next offset of a log.", _BY_PARTITION)
FLUSHES = Metric(
    "kafka.log:type=LogFlushStats,name=LogFlushRateAndTimeMs",
    HISTOGRAM,
    "ms",
    "Duration of flushes of logs to the disk.",
)
OFFLINE_DIRECTORIES = Metric(
    "kafka.log:type=LogManager,name=OfflineLogDirectoryCount",
    GAUGE,
    "directories",
    "Log directories that failed.",
)
DIRECTORY_OFFLINE = Metric(
    "kafka.log:type=LogManager,name=LogDirectoryOffline",
    GAUGE,
    "0 or 1",
    "Whether this log directory failed.",
    ("logDirectory",),
)
DIRECTORY_FULL = Metric(
    "barnabas_log_directory_full",
    GAUGE,
    "0 or 1",
    "Whether the last write to this log directory found no space.",
    ("log_directory",),
)
DIRECTORY_FREE = Metric(
    "barnabas_log_directory_free_bytes",
    GAUGE,
    "bytes",
    "Free space of the file system of a log directory.",
    ("log_directory",),
)

# --- controller --------------------------------------------------------------------------------

_CONTROLLER = "kafka.controller:type=KafkaController,name="
ACTIVE_CONTROLLER = Metric(
    _CONTROLLER + "ActiveControllerCount", GAUGE, "0 or 1", "Whether this broker is the controller."
)
OFFLINE_PARTITIONS = Metric(
    _CONTROLLER + "OfflinePartitionsCount",
    GAUGE,
    "partitions",
    "Partitions without a leader; 0 on brokers that are not the controller.",
)
PREFERRED_IMBALANCE = Metric(
    _CONTROLLER + "PreferredReplicaImbalanceCount",
    GAUGE,
    "partitions",
    "Partitions whose leader is not the preferred replica; 0 if not the controller.",
)
GLOBAL_TOPICS = Metric(
    _CONTROLLER + "GlobalTopicCount", GAUGE, "topics", "Topics; 0 if not the controller."
)
GLOBAL_PARTITIONS = Metric(
    _CONTROLLER + "GlobalPartitionCount",
    GAUGE,
    "partitions",
    "Partitions of all topics; 0 if not the controller.",
)
ACTIVE_BROKERS = Metric(
    _CONTROLLER + "ActiveBrokerCount", GAUGE, "brokers", "Live brokers; 0 if not the controller."
)

# --- coordinators ------------------------------------------------------------------------------

_GROUPS = "kafka.server:type=group-coordinator-metrics,name="
GROUPS = Metric(
    _GROUPS + "group-count",
    GAUGE,
    "groups",
    "Groups by protocol and state.",
    ("protocol", "state"),
)
_GROUPS = "kafka.coordinator.group:type=GroupMetadataManager,name=NumGroups"
GROUP_TOTAL = Metric(_GROUPS, GAUGE, "groups", "Groups of this coordinator, in all states.")
PREPARING_GROUPS = Metric(
    _GROUPS + "PreparingRebalance", GAUGE, "groups", "Classic groups that wait for their members."
)
COMPLETING_GROUPS = Metric(
    _GROUPS + "CompletingRebalance", GAUGE, "groups", "Classic groups without an assignment yet."
)
STABLE_GROUPS = Metric(_GROUPS + "Stable", GAUGE, "groups", "Groups with an assignment.")
EMPTY_GROUPS = Metric(_GROUPS + "Empty", GAUGE, "groups", "Groups without members.")
DEAD_GROUPS = Metric(_GROUPS + "Dead", GAUGE, "groups", "Groups that are being removed.")
OFFSETS = Metric(
    "kafka.coordinator.group:type=GroupMetadataManager,name=NumOffsets",
    GAUGE,
    "offsets",
    "Committed offsets kept by this coordinator.",
)
TRANSACTIONS = Metric(
    "barnabas_transactions",
    GAUGE,
    "transactional ids",
    "Transactional ids of this coordinator by state.",
    ("state",),
)
PRODUCER_IDS = Metric(
    _REPLICAS + "ProducerIdCount", GAUGE, "producer ids", "Producer ids kept by the logs here."
)

# --- consumer lag ------------------------------------------------------------------------------

_LAG_LABELS = ("group", "topic", "partition")
LAG = Metric(
    "kafka_consumergroup_lag",
    GAUGE,
    "records",
    "Records between a group's committed offset and the end of the partition.",
    _LAG_LABELS,
)
LAG_SECONDS = Metric(
    "kafka_consumergroup_lag_seconds",
    GAUGE,
    "seconds",
    "Age of the first record that the group has not committed.",
    _LAG_LABELS,
)
COMMITTED = Metric(
    "kafka_consumergroup_current_offset",
    GAUGE,
    "offset",
    "Committed offset of a group.",
    _LAG_LABELS,
)
LAG_TREND = Metric(
    "barnabas_consumergroup_lag_change_per_second",
    GAUGE,
    "records/s",
    "Change of a group's lag in the last minute; negative: the lag shrinks.",
    ("group",),
)
CATCH_UP = Metric(
    "barnabas_consumergroup_catch_up_seconds",
    GAUGE,
    "seconds",
    "Estimated time until the group has no lag; -1 if it does not catch up.",
    ("group",),
)

# --- process -----------------------------------------------------------------------------------

PROCESS_CPU = Metric("process_cpu_seconds", COUNTER, "seconds", "CPU time of the process.")
PROCESS_MEMORY = Metric(
    "process_resident_memory_bytes", GAUGE, "bytes", "Resident memory of the process."
)
PROCESS_FILES = Metric("process_open_fds", GAUGE, "descriptors", "Open file descriptors.")
PROCESS_MAX_FILES = Metric(
    "process_max_fds", GAUGE, "descriptors", "Limit of open file descriptors."
)
PROCESS_START = Metric(
    "process_start_time_seconds", GAUGE, "seconds", "Start of the process since the epoch."
)
LOOP_LAG = Metric(
    "barnabas_event_loop_lag_seconds",
    HISTOGRAM,
    "seconds",
    "Delay of a timer of the event loop; a request waits as long before it is read.",
)
ZOOKEEPER_STATE = Metric(
    "kafka.server:type=SessionExpireListener,name=ZooKeeperConnected",
    GAUGE,
    "0 or 1",
    "Whether the session on the metadata tree (ZooKeeper or embedded) is connected.",
)
BROKER_STATE = Metric(
    "kafka.server:type=KafkaServer,name=BrokerState",
    GAUGE,
    "state",
    "1: starting, 3: running, 6: moving its leaderships to other brokers, 7: shutting down.",
)
BROKER_INFO = Metric(
    "kafka.server:type=app-info",
    GAUGE,
    "1",
    "Version and ids of this broker.",
    ("version", "broker", "cluster"),
)

# --- clients that push their metrics -----------------------------------------------------------

CLIENT_METRICS = Metric(
    "kafka_client_telemetry",
    GAUGE,
    "as named",
    "Metrics that clients push (KIP-714), under the names that the clients give them.",
    ("metric", "client_id", "software", "principal", "client_instance_id", "attributes"),
)
TELEMETRY_CLIENTS = Metric(
    "kafka_client_telemetry_clients", GAUGE, "clients", "Clients that push their metrics."
)
