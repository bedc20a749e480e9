"""Kafka's error codes: number, name, whether a retry may succeed, and a text.

`retriable` is a property of the code, not a second class hierarchy.
"""

import enum


class ErrorCode(enum.IntEnum):
    """An error with its number and name in the protocol."""

    UNKNOWN_SERVER_ERROR = -1
    NONE = 0
    OFFSET_OUT_OF_RANGE = 1
    CORRUPT_MESSAGE = 2
    UNKNOWN_TOPIC_OR_PARTITION = 3
    INVALID_FETCH_SIZE = 4
    LEADER_NOT_AVAILABLE = 5
    NOT_LEADER_OR_FOLLOWER = 6
    REQUEST_TIMED_OUT = 7
    BROKER_NOT_AVAILABLE = 8
    REPLICA_NOT_AVAILABLE = 9
    MESSAGE_TOO_LARGE = 10
    STALE_CONTROLLER_EPOCH = 11
    OFFSET_METADATA_TOO_LARGE = 12
    NETWORK_EXCEPTION = 13
    COORDINATOR_LOAD_IN_PROGRESS = 14
    COORDINATOR_NOT_AVAILABLE = 15
    NOT_COORDINATOR = 16
    INVALID_TOPIC_EXCEPTION = 17
    RECORD_LIST_TOO_LARGE = 18
    NOT_ENOUGH_REPLICAS = 19
    NOT_ENOUGH_REPLICAS_AFTER_APPEND = 20
    INVALID_REQUIRED_ACKS = 21
    ILLEGAL_GENERATION = 22
    INCONSISTENT_GROUP_PROTOCOL = 23
    INVALID_GROUP_ID = 24
    UNKNOWN_MEMBER_ID = 25
    INVALID_SESSION_TIMEOUT = 26
    REBALANCE_IN_PROGRESS = 27
    INVALID_COMMIT_OFFSET_SIZE = 28
    TOPIC_AUTHORIZATION_FAILED = 29
    GROUP_AUTHORIZATION_FAILED = 30
    CLUSTER_AUTHORIZATION_FAILED = 31
    INVALID_TIMESTAMP = 32
    UNSUPPORTED_SASL_MECHANISM = 33
    ILLEGAL_SASL_STATE = 34
    UNSUPPORTED_VERSION = 35
    TOPIC_ALREADY_EXISTS = 36
    INVALID_PARTITIONS = 37
    INVALID_REPLICATION_FACTOR = 38
    INVALID_REPLICA_ASSIGNMENT = 39
    INVALID_CONFIG = 40
    NOT_CONTROLLER = 41
    INVALID_REQUEST = 42
    UNSUPPORTED_FOR_MESSAGE_FORMAT = 43
    POLICY_VIOLATION = 44
    OUT_OF_ORDER_SEQUENCE_NUMBER = 45
    DUPLICATE_SEQUENCE_NUMBER = 46
    INVALID_PRODUCER_EPOCH = 47
    INVALID_TXN_STATE = 48
    INVALID_PRODUCER_ID_MAPPING = 49
    INVALID_TRANSACTION_TIMEOUT = 50
    CONCURRENT_TRANSACTIONS = 51
    TRANSACTION_COORDINATOR_FENCED = 52
    TRANSACTIONAL_ID_AUTHORIZATION_FAILED = 53
    SECURITY_DISABLED = 54
    OPERATION_NOT_ATTEMPTED = 55
    KAFKA_STORAGE_ERROR = 56
    LOG_DIR_NOT_FOUND = 57
    SASL_AUTHENTICATION_FAILED = 58
    UNKNOWN_PRODUCER_ID = 59
    REASSIGNMENT_IN_PROGRESS = 60
    DELEGATION_TOKEN_AUTH_DISABLED = 61
    DELEGATION_TOKEN_NOT_FOUND = 62
    DELEGATION_TOKEN_OWNER_MISMATCH = 63
    DELEGATION_TOKEN_REQUEST_NOT_ALLOWED = 64
    DELEGATION_TOKEN_AUTHORIZATION_FAILED = 65
    DELEGATION_TOKEN_EXPIRED = 66
    INVALID_PRINCIPAL_TYPE = 67
    NON_EMPTY_GROUP = 68
    GROUP_ID_NOT_FOUND = 69
    FETCH_SESSION_ID_NOT_FOUND = 70
    INVALID_FETCH_SESSION_EPOCH = 71
    LISTENER_NOT_FOUND = 72
    TOPIC_DELETION_DISABLED = 73
    FENCED_LEADER_EPOCH = 74
    UNKNOWN_LEADER_EPOCH = 75
    UNSUPPORTED_COMPRESSION_TYPE = 76
    STALE_BROKER_EPOCH = 77
    OFFSET_NOT_AVAILABLE = 78
    MEMBER_ID_REQUIRED = 79
    PREFERRED_LEADER_NOT_AVAILABLE = 80
    GROUP_MAX_SIZE_REACHED = 81
    FENCED_INSTANCE_ID = 82
    ELIGIBLE_LEADERS_NOT_AVAILABLE = 83
    ELECTION_NOT_NEEDED = 84
    NO_REASSIGNMENT_IN_PROGRESS = 85
    GROUP_SUBSCRIBED_TO_TOPIC = 86
    INVALID_RECORD = 87
    UNSTABLE_OFFSET_COMMIT = 88
    THROTTLING_QUOTA_EXCEEDED = 89
    PRODUCER_FENCED = 90
    RESOURCE_NOT_FOUND = 91
    DUPLICATE_RESOURCE = 92
    UNACCEPTABLE_CREDENTIAL = 93
    INCONSISTENT_VOTER_SET = 94
    INVALID_UPDATE_VERSION = 95
    FEATURE_UPDATE_FAILED = 96
    PRINCIPAL_DESERIALIZATION_FAILURE = 97
    SNAPSHOT_NOT_FOUND = 98
    POSITION_OUT_OF_RANGE = 99
    UNKNOWN_TOPIC_ID = 100
    DUPLICATE_BROKER_REGISTRATION = 101
    BROKER_ID_NOT_REGISTERED = 102
    INCONSISTENT_TOPIC_ID = 103
    INCONSISTENT_CLUSTER_ID = 104
    TRANSACTIONAL_ID_NOT_FOUND = 105
    FETCH_SESSION_TOPIC_ID_ERROR = 106
    INELIGIBLE_REPLICA = 107
    NEW_LEADER_ELECTED = 108
    OFFSET_MOVED_TO_TIERED_STORAGE = 109
    FENCED_MEMBER_EPOCH = 110
    UNRELEASED_INSTANCE_ID = 111
    UNSUPPORTED_ASSIGNOR = 112
    STALE_MEMBER_EPOCH = 113
    MISMATCHED_ENDPOINT_TYPE = 114
    UNSUPPORTED_ENDPOINT_TYPE = 115
    UNKNOWN_CONTROLLER_ID = 116
    UNKNOWN_SUBSCRIPTION_ID = 117
    TELEMETRY_TOO_LARGE = 118
    INVALID_REGISTRATION = 119
    TRANSACTION_ABORTABLE = 120
    INVALID_RECORD_STATE = 121
    SHARE_SESSION_NOT_FOUND = 122
    INVALID_SHARE_SESSION_EPOCH = 123
    FENCED_STATE_EPOCH = 124
    INVALID_VOTER_KEY = 125
    DUPLICATE_VOTER = 126
    VOTER_NOT_FOUND = 127
    INVALID_REGULAR_EXPRESSION = 128
    REBOOTSTRAP_REQUIRED = 129

    @property
    def retriable(self) -> bool:
        """Whether a retry may succeed, possibly after a metadata refresh."""
        return self in _RETRIABLE

    @property
    def explanation(self) -> str:
        """Description of the error in one line."""
        return _EXPLANATIONS[self]

    @classmethod
    def of(cls, number: int) -> "ErrorCode":
        """Returns the code with this number; UNKNOWN_SERVER_ERROR for an unknown number."""
        try:
            return cls(number)
        except ValueError:
            return cls.UNKNOWN_SERVER_ERROR


_RETRIABLE = frozenset(
    {
        ErrorCode.CORRUPT_MESSAGE,
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
        ErrorCode.LEADER_NOT_AVAILABLE,
        ErrorCode.NOT_LEADER_OR_FOLLOWER,
        ErrorCode.REQUEST_TIMED_OUT,
        ErrorCode.REPLICA_NOT_AVAILABLE,
        ErrorCode.NETWORK_EXCEPTION,
        ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
        ErrorCode.COORDINATOR_NOT_AVAILABLE,
        ErrorCode.NOT_COORDINATOR,
        ErrorCode.NOT_ENOUGH_REPLICAS,
        ErrorCode.NOT_ENOUGH_REPLICAS_AFTER_APPEND,
        ErrorCode.NOT_CONTROLLER,
        ErrorCode.CONCURRENT_TRANSACTIONS,
        ErrorCode.KAFKA_STORAGE_ERROR,
        ErrorCode.FETCH_SESSION_ID_NOT_FOUND,
        ErrorCode.INVALID_FETCH_SESSION_EPOCH,
        ErrorCode.LISTENER_NOT_FOUND,
        ErrorCode.FENCED_LEADER_EPOCH,
        ErrorCode.UNKNOWN_LEADER_EPOCH,
        ErrorCode.OFFSET_NOT_AVAILABLE,
        ErrorCode.PREFERRED_LEADER_NOT_AVAILABLE,
        ErrorCode.ELIGIBLE_LEADERS_NOT_AVAILABLE,
        ErrorCode.ELECTION_NOT_NEEDED,
        ErrorCode.UNSTABLE_OFFSET_COMMIT,
        ErrorCode.THROTTLING_QUOTA_EXCEEDED,
        ErrorCode.UNKNOWN_TOPIC_ID,
        ErrorCode.INCONSISTENT_TOPIC_ID,
        ErrorCode.FETCH_SESSION_TOPIC_ID_ERROR,
        ErrorCode.SHARE_SESSION_NOT_FOUND,
        ErrorCode.INVALID_SHARE_SESSION_EPOCH,
    }
)

_TEXT = """\
UNKNOWN_SERVER_ERROR: an unexpected error occurred on the server
NONE: no error
OFFSET_OUT_OF_RANGE: the offset is outside the log of the partition
CORRUPT_MESSAGE: the record batch has a wrong checksum or an invalid structure
UNKNOWN_TOPIC_OR_PARTITION: this server does not host this topic-partition
INVALID_FETCH_SIZE: the fetch size is invalid
LEADER_NOT_AVAILABLE: this topic-partition has no leader: an election is in progress
NOT_LEADER_OR_FOLLOWER: this broker is not the leader, or not a replica, of the partition
REQUEST_TIMED_OUT: the request timed out
BROKER_NOT_AVAILABLE: the broker is not available
REPLICA_NOT_AVAILABLE: the replica is not available for the requested topic-partition
MESSAGE_TOO_LARGE: the record batch is larger than the server accepts
STALE_CONTROLLER_EPOCH: the controller has moved to another broker
OFFSET_METADATA_TOO_LARGE: the metadata string of the offset commit is too large
NETWORK_EXCEPTION: the server disconnected before a response was received
COORDINATOR_LOAD_IN_PROGRESS: the coordinator is loading and cannot process requests yet
COORDINATOR_NOT_AVAILABLE: the coordinator is not available
NOT_COORDINATOR: this broker is not the coordinator
INVALID_TOPIC_EXCEPTION: the topic name is not valid, or the topic is not writable
RECORD_LIST_TOO_LARGE: the batch is larger than the configured segment size
NOT_ENOUGH_REPLICAS: fewer replicas are in sync than the write requires
NOT_ENOUGH_REPLICAS_AFTER_APPEND: written, but to fewer in-sync replicas than required
INVALID_REQUIRED_ACKS: acks must be -1, 0 or 1
ILLEGAL_GENERATION: the group generation is not the current one
INCONSISTENT_GROUP_PROTOCOL: the member's protocols do not match those of the group
INVALID_GROUP_ID: the group id is not valid
UNKNOWN_MEMBER_ID: the coordinator does not know this member
INVALID_SESSION_TIMEOUT: the session timeout is outside the broker's bounds
REBALANCE_IN_PROGRESS: the group is rebalancing, rejoin is needed
INVALID_COMMIT_OFFSET_SIZE: the size of the committed offset data is not valid
TOPIC_AUTHORIZATION_FAILED: not authorized for this topic
GROUP_AUTHORIZATION_FAILED: not authorized for this group
CLUSTER_AUTHORIZATION_FAILED: not authorized for the cluster
INVALID_TIMESTAMP: the timestamp of the record is out of the acceptable range
UNSUPPORTED_SASL_MECHANISM: the broker does not support this SASL mechanism
ILLEGAL_SASL_STATE: the request is not valid in the current SASL state
UNSUPPORTED_VERSION: the version of the API is not supported
TOPIC_ALREADY_EXISTS: a topic of this name already exists
INVALID_PARTITIONS: the number of partitions is not valid
INVALID_REPLICATION_FACTOR: the replication factor is below 1 or above the number of brokers
INVALID_REPLICA_ASSIGNMENT: the replica assignment is not valid
INVALID_CONFIG: the configuration is not valid
NOT_CONTROLLER: this broker is not the controller
INVALID_REQUEST: the request is inconsistent or malformed
UNSUPPORTED_FOR_MESSAGE_FORMAT: the message format on the broker does not support the request
POLICY_VIOLATION: the request parameters do not satisfy the configured policy
OUT_OF_ORDER_SEQUENCE_NUMBER: the producer's sequence number does not follow the last one
DUPLICATE_SEQUENCE_NUMBER: the producer's sequence number was seen before
INVALID_PRODUCER_EPOCH: the producer epoch is older than the current one
INVALID_TXN_STATE: the transactional operation is not valid in the current state
INVALID_PRODUCER_ID_MAPPING: the producer id does not belong to this transactional id
INVALID_TRANSACTION_TIMEOUT: the transaction timeout is above the broker's limit
CONCURRENT_TRANSACTIONS: another operation of this transactional id is in progress
TRANSACTION_COORDINATOR_FENCED: the coordinator that sent the marker has been replaced
TRANSACTIONAL_ID_AUTHORIZATION_FAILED: not authorized for this transactional id
SECURITY_DISABLED: security features are disabled
OPERATION_NOT_ATTEMPTED: the operation was not attempted, a part of the batch failed
KAFKA_STORAGE_ERROR: the broker's disk failed while reading or writing the log
LOG_DIR_NOT_FOUND: the log directory is not in the broker's configuration
SASL_AUTHENTICATION_FAILED: SASL authentication failed
UNKNOWN_PRODUCER_ID: the broker has no state for this producer id
REASSIGNMENT_IN_PROGRESS: a partition reassignment is in progress
DELEGATION_TOKEN_AUTH_DISABLED: delegation tokens are not enabled
DELEGATION_TOKEN_NOT_FOUND: the delegation token was not found
DELEGATION_TOKEN_OWNER_MISMATCH: the principal is not an owner of the token
DELEGATION_TOKEN_REQUEST_NOT_ALLOWED: token requests are not allowed on this channel
DELEGATION_TOKEN_AUTHORIZATION_FAILED: not authorized for this delegation token
DELEGATION_TOKEN_EXPIRED: the delegation token has expired
INVALID_PRINCIPAL_TYPE: the principal type is not supported
NON_EMPTY_GROUP: the group is not empty
GROUP_ID_NOT_FOUND: no group has this id
FETCH_SESSION_ID_NOT_FOUND: the fetch session was not found
INVALID_FETCH_SESSION_EPOCH: the fetch session epoch is not the expected one
LISTENER_NOT_FOUND: the leader has no listener with the name of the request's listener
TOPIC_DELETION_DISABLED: topic deletion is disabled
FENCED_LEADER_EPOCH: the leader epoch in the request is older than the broker's
UNKNOWN_LEADER_EPOCH: the leader epoch in the request is newer than the broker's
UNSUPPORTED_COMPRESSION_TYPE: the client does not support the compression of the partition
STALE_BROKER_EPOCH: the broker epoch is not the current one
OFFSET_NOT_AVAILABLE: the new leader's high watermark has not caught up yet
MEMBER_ID_REQUIRED: the member must rejoin with the assigned member id
PREFERRED_LEADER_NOT_AVAILABLE: the preferred leader is not available
GROUP_MAX_SIZE_REACHED: the group has reached its maximum size
FENCED_INSTANCE_ID: another member has registered this group instance id
ELIGIBLE_LEADERS_NOT_AVAILABLE: no eligible leader is available
ELECTION_NOT_NEEDED: no leader change is needed
NO_REASSIGNMENT_IN_PROGRESS: no reassignment is in progress
GROUP_SUBSCRIBED_TO_TOPIC: the group is still subscribed to the topic
INVALID_RECORD: the record fails validation
UNSTABLE_OFFSET_COMMIT: an open transaction has pending offset commits
THROTTLING_QUOTA_EXCEEDED: the throttling quota is exceeded
PRODUCER_FENCED: a newer producer with the same transactional id is active
RESOURCE_NOT_FOUND: the resource was not found
DUPLICATE_RESOURCE: the resource is named twice
UNACCEPTABLE_CREDENTIAL: the credential does not meet the requirements
INCONSISTENT_VOTER_SET: the voter sets differ
INVALID_UPDATE_VERSION: the update was made against an old version
FEATURE_UPDATE_FAILED: the finalized features could not be updated
PRINCIPAL_DESERIALIZATION_FAILURE: the forwarded principal could not be decoded
SNAPSHOT_NOT_FOUND: the snapshot was not found
POSITION_OUT_OF_RANGE: the position is beyond the snapshot
UNKNOWN_TOPIC_ID: this server does not host the topic of this id
DUPLICATE_BROKER_REGISTRATION: the broker id is in use
BROKER_ID_NOT_REGISTERED: the broker id is not registered
INCONSISTENT_TOPIC_ID: the topic id of the log differs from that of the request
INCONSISTENT_CLUSTER_ID: the cluster id differs from that of this cluster
TRANSACTIONAL_ID_NOT_FOUND: the transactional id was not found
FETCH_SESSION_TOPIC_ID_ERROR: the fetch session mixes topic ids and topic names
INELIGIBLE_REPLICA: a replica may not join the in-sync set
NEW_LEADER_ELECTED: the change of the in-sync set elected a new leader
OFFSET_MOVED_TO_TIERED_STORAGE: the offset has moved to tiered storage
FENCED_MEMBER_EPOCH: the member epoch is fenced, the member must rejoin
UNRELEASED_INSTANCE_ID: the instance id is still held by another member
UNSUPPORTED_ASSIGNOR: the group does not support this assignor
STALE_MEMBER_EPOCH: the member epoch is stale, retry after the next heartbeat
MISMATCHED_ENDPOINT_TYPE: the request was sent to an endpoint of the wrong type
UNSUPPORTED_ENDPOINT_TYPE: this endpoint type is not supported
UNKNOWN_CONTROLLER_ID: the controller id is not known
UNKNOWN_SUBSCRIPTION_ID: the subscription id is not current
TELEMETRY_TOO_LARGE: the telemetry is too large
INVALID_REGISTRATION: the controller rejected the registration
TRANSACTION_ABORTABLE: the transaction must be aborted
INVALID_RECORD_STATE: the state of the record does not allow the operation
SHARE_SESSION_NOT_FOUND: the share session was not found
INVALID_SHARE_SESSION_EPOCH: the share session epoch is not the expected one
FENCED_STATE_EPOCH: the state epoch is fenced
INVALID_VOTER_KEY: the voter key is not valid
DUPLICATE_VOTER: the voter is already in the set
VOTER_NOT_FOUND: the voter is not in the set
INVALID_REGULAR_EXPRESSION: the regular expression is not valid
REBOOTSTRAP_REQUIRED: the client's metadata is stale, it must bootstrap again
"""

_EXPLANATIONS: dict[ErrorCode, str] = {
    ErrorCode[name]: text for name, _, text in (line.partition(": ") for line in _TEXT.splitlines())
}
