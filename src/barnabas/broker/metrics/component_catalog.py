"""Declarations of the metrics of a broker's components: controller, coordinators, log cleaner,
quotas, fetch sessions, followers and the metadata tree.

`catalog` has the metrics of requests, topics, replicas, logs, lag and the process.
"""

from barnabas.runtime.metrics import Metric, MetricKind

COUNTER, GAUGE, HISTOGRAM = MetricKind.COUNTER, MetricKind.GAUGE, MetricKind.HISTOGRAM

# --- requests ----------------------------------------------------------------------------------

REQUEST_ERRORS = Metric(
    "kafka.network:type=RequestMetrics,name=ErrorsPerSec",
    COUNTER,
    "errors",
    "Error codes in responses, one for each partition, group or other item; without NONE.",
    ("request", "error"),
)

_QUOTA_LABELS = ("user", "client_id")


def _throttle(kind: str, subject: str) -> Metric:
    return Metric(
        f"kafka.server:type={kind},name=throttle-time",
        HISTOGRAM,
        "ms",
        f"Throttle times of {subject}, by the user and the client id that share the quota.",
        _QUOTA_LABELS,
    )


PRODUCE_THROTTLE = _throttle("Produce", "produce requests (producer_byte_rate)")
FETCH_THROTTLE = _throttle("Fetch", "fetch requests (consumer_byte_rate)")
REQUEST_THROTTLE = _throttle("Request", "all requests (request_percentage)")
MUTATION_THROTTLE = _throttle(
    "ControllerMutation", "created and deleted partitions (controller_mutation_rate)"
)

_SESSIONS = "kafka.server:type=FetchSessionCache,name="
FETCH_SESSIONS = Metric(
    _SESSIONS + "NumIncrementalFetchSessions", GAUGE, "sessions", "Incremental fetch sessions."
)
FETCH_SESSION_PARTITIONS = Metric(
    _SESSIONS + "NumIncrementalFetchPartitionsCached",
    GAUGE,
    "partitions",
    "Partitions in the fetch sessions of consumers.",
)
FETCH_SESSION_EVICTIONS = Metric(
    _SESSIONS + "IncrementalFetchSessionEvictionsPerSec",
    COUNTER,
    "sessions",
    "Fetch sessions that were evicted for others.",
)

# --- followers and logs ------------------------------------------------------------------------

FOLLOWER_LAG = Metric(
    "kafka.server:type=ReplicaFetcherManager,name=MaxLag",
    GAUGE,
    "records",
    "Largest number of committed records that a follower on this broker lacks.",
)
REASSIGNING = Metric(
    "kafka.server:type=ReplicaManager,name=ReassigningPartitions",
    GAUGE,
    "partitions",
    "Partitions led here that are being reassigned.",
)
EXPIRED_SEGMENTS = Metric(
    "barnabas_log_expired_segments", COUNTER, "segments", "Segments that retention removed."
)
_CLEANER = "kafka.log:type=LogCleaner,name="
_CLEANER_MANAGER = "kafka.log:type=LogCleanerManager,name="
CLEAN_TIME = Metric(
    "barnabas_log_cleaner_pass_seconds", HISTOGRAM, "seconds", "Duration of compaction passes."
)
CLEANER_READ = Metric(
    "barnabas_log_cleaner_read_bytes", COUNTER, "bytes", "Bytes of segments before compaction."
)
CLEANER_WRITTEN = Metric(
    "barnabas_log_cleaner_written_bytes", COUNTER, "bytes", "Bytes of segments after compaction."
)
CLEANER_RECOPY = Metric(
    _CLEANER + "cleaner-recopy-percent",
    GAUGE,
    "percent",
    "Bytes that compaction wrote, as a share of the bytes that it read.",
)
MAX_CLEAN_TIME = Metric(
    _CLEANER + "max-clean-time-secs", GAUGE, "seconds", "Duration of the longest compaction pass."
)
UNCLEANABLE = Metric(
    _CLEANER_MANAGER + "uncleanable-partitions-count",
    GAUGE,
    "partitions",
    "Partitions whose compaction is disabled until the broker restarts, because a pass failed.",
)
MAX_DIRTY = Metric(
    _CLEANER_MANAGER + "max-dirty-percent",
    GAUGE,
    "percent",
    "Largest share of uncompacted bytes in a compacted log at the last check.",
)
SINCE_LAST_CLEAN = Metric(
    _CLEANER_MANAGER + "time-since-last-run-ms",
    GAUGE,
    "ms",
    "Time since the cleaner last looked for logs to compact; it does so every 15 s when idle.",
)

# --- controller --------------------------------------------------------------------------------

_CONTROLLER = "kafka.controller:type=KafkaController,name="
CONTROLLER_STATE = Metric(
    _CONTROLLER + "ControllerState",
    GAUGE,
    "state",
    "Number of the event that the controller processes, as in Kafka; 0 is idle.",
)
TOPICS_TO_DELETE = Metric(
    _CONTROLLER + "TopicsToDeleteCount",
    GAUGE,
    "topics",
    "Topics to be deleted; 0 if not the controller.",
)
BLOCKED_DELETIONS = Metric(
    _CONTROLLER + "TopicsIneligibleToDeleteCount",
    GAUGE,
    "topics",
    "Topics that cannot be deleted now; 0 if not the controller.",
)
ELECTIONS = Metric(
    "kafka.controller:type=ControllerStats,name=LeaderElectionRateAndTimeMs",
    HISTOGRAM,
    "ms",
    "Duration of leader elections; one election may concern many partitions.",
)
UNCLEAN_ELECTIONS = Metric(
    "kafka.controller:type=ControllerStats,name=UncleanLeaderElectionsPerSec",
    COUNTER,
    "partitions",
    "Leaders that were elected outside the ISR; records may be lost.",
)
EVENT_QUEUE_SIZE = Metric(
    "kafka.controller:type=ControllerEventManager,name=EventQueueSize",
    GAUGE,
    "events",
    "Events that wait for the controller.",
)
EVENT_QUEUE_TIME = Metric(
    "kafka.controller:type=ControllerEventManager,name=EventQueueTimeMs",
    HISTOGRAM,
    "ms",
    "Time that events waited for the controller.",
)
EVENT_TIME = Metric(
    "barnabas_controller_event_seconds",
    HISTOGRAM,
    "seconds",
    "Time in which the controller processed events, by kind.",
    ("event",),
)
COMMAND_QUEUE = Metric(
    "kafka.controller:type=ControllerChannelManager,name=TotalQueueSize",
    GAUGE,
    "commands",
    "Commands that brokers have not confirmed yet; 0 if not the controller.",
)

# --- coordinators ------------------------------------------------------------------------------

_GROUPS = "kafka.server:type=group-coordinator-metrics,name="
_TRANSACTIONS = "kafka.server:type=transaction-coordinator-metrics,name="
REBALANCES = Metric(
    "barnabas_group_rebalances",
    COUNTER,
    "rebalances",
    "Rebalances that were started, by protocol and reason.",
    ("protocol", "reason"),
)
COMPLETED_REBALANCES = Metric(
    _GROUPS + "group-completed-rebalance-count",
    COUNTER,
    "rebalances",
    "Rebalances of classic groups that were completed.",
)
CONSUMER_REBALANCES = Metric(
    _GROUPS + "consumer-group-rebalance-count",
    COUNTER,
    "rebalances",
    "New group epochs of groups with the consumer protocol (KIP-848).",
)
OFFSET_COMMITS = Metric(_GROUPS + "offset-commit-count", COUNTER, "offsets", "Committed offsets.")
OFFSET_EXPIRATIONS = Metric(
    _GROUPS + "offset-expiration-count", COUNTER, "offsets", "Offsets that expired."
)
OFFSET_DELETIONS = Metric(
    _GROUPS + "offset-deletion-count", COUNTER, "offsets", "Offsets deleted by OffsetDelete."
)
GROUP_PARTITIONS = Metric(
    _GROUPS + "num-partitions",
    GAUGE,
    "partitions",
    "Partitions of __consumer_offsets that this coordinator has, by state.",
    ("state",),
)
GROUP_LOAD_TIME = Metric(
    _GROUPS + "partition-load-time",
    HISTOGRAM,
    "ms",
    "Time in which a partition of __consumer_offsets was loaded.",
)
TRANSACTION_LOAD_TIME = Metric(
    _TRANSACTIONS + "partition-load-time",
    HISTOGRAM,
    "ms",
    "Time in which a partition of __transaction_state was loaded.",
)
COMMITTED_TRANSACTIONS = Metric(
    "barnabas_transactions_committed", COUNTER, "transactions", "Transactions that were committed."
)
ABORTED_TRANSACTIONS = Metric(
    "barnabas_transactions_aborted",
    COUNTER,
    "transactions",
    "Transactions that were aborted: by the client, after a timeout, or for a new producer.",
    ("cause",),
)

# --- metadata tree and process -----------------------------------------------------------------

_SESSION = "kafka.server:type=SessionExpireListener,name="
TREE_REQUEST_TIME = Metric(
    "kafka.server:type=ZooKeeperClientMetrics,name=ZooKeeperRequestLatencyMs",
    HISTOGRAM,
    "ms",
    "Time from a request to the metadata tree (ZooKeeper or embedded) to its response.",
)
SESSION_STATE = Metric(
    _SESSION + "SessionState",
    GAUGE,
    "0 or 1",
    "1 for the current state of the session on the metadata tree.",
    ("state",),
)
TREE_DISCONNECTS = Metric(
    _SESSION + "ZooKeeperDisconnectsPerSec",
    COUNTER,
    "events",
    "Lost connections to the metadata tree.",
)
TREE_EXPIRES = Metric(
    _SESSION + "ZooKeeperExpiresPerSec", COUNTER, "events", "Expired sessions on the metadata tree."
)
TREE_CONNECTS = Metric(
    _SESSION + "ZooKeeperSyncConnectsPerSec",
    COUNTER,
    "events",
    "Connections to the metadata tree after the first one.",
)
DISK_READ = Metric(
    "kafka.server:type=KafkaServer,name=linux-disk-read-bytes",
    COUNTER,
    "bytes",
    "Bytes that the process read from disks.",
)
DISK_WRITTEN = Metric(
    "kafka.server:type=KafkaServer,name=linux-disk-write-bytes",
    COUNTER,
    "bytes",
    "Bytes that the process wrote to disks.",
)
