"""Kafka's paths in the metadata tree, relative to the chroot.

Names that users choose are checked (`model.ids`) or sanitised (`sanitize`) before they
become part of a path.
"""

from urllib.parse import quote, unquote

from barnabas.model.ids import TopicPartition

CLUSTER_ID = "/cluster/id"
CONTROLLER = "/controller"
CONTROLLER_EPOCH = "/controller_epoch"

BROKER_IDS = "/brokers/ids"
BROKER_TOPICS = "/brokers/topics"
BROKER_SEQUENCE_ID = "/brokers/seqid"

DELETE_TOPICS = "/admin/delete_topics"
REASSIGN_PARTITIONS = "/admin/reassign_partitions"
PREFERRED_REPLICA_ELECTION = "/admin/preferred_replica_election"

CONFIG_CHANGES = "/config/changes"
CONFIG_CHANGE_PREFIX = "/config/changes/config_change_"
CONFIG_KINDS = ("topics", "clients", "users", "brokers", "ips", "client-metrics", "groups")
DEFAULT_ENTITY = "<default>"

ISR_CHANGES = "/isr_change_notification"
ISR_CHANGE_PREFIX = "/isr_change_notification/isr_change_"
LOG_DIR_EVENTS = "/log_dir_event_notification"
LOG_DIR_EVENT_PREFIX = "/log_dir_event_notification/log_dir_event_"
LATEST_PRODUCER_ID_BLOCK = "/latest_producer_id_block"
CONSUMERS = "/consumers"
DECOY_SECRET = "/barnabas/scram_decoy_secret"
"""Not one of Kafka's paths. All brokers derive the SCRAM salts of unknown users from this key."""

ACLS = "/kafka-acl"
ACL_CHANGES = "/kafka-acl-changes"
ACL_CHANGE_PREFIX = "/kafka-acl-changes/acl_changes_"
EXTENDED_ACLS = "/kafka-acl-extended"
EXTENDED_ACL_CHANGES = "/kafka-acl-extended-changes"
EXTENDED_ACL_CHANGE_PREFIX = "/kafka-acl-extended-changes/acl_changes_"

DELEGATION_TOKENS = "/delegation_token/tokens"
DELEGATION_TOKEN_CHANGES = "/delegation_token/token_changes"
DELEGATION_TOKEN_CHANGE_PREFIX = "/delegation_token/token_changes/token_change_"

PERSISTENT_ROOTS = (
    CONSUMERS,
    BROKER_IDS,
    BROKER_TOPICS,
    CONFIG_CHANGES,
    DELETE_TOPICS,
    BROKER_SEQUENCE_ID,
    ISR_CHANGES,
    LATEST_PRODUCER_ID_BLOCK,
    LOG_DIR_EVENTS,
    *(f"/config/{kind}" for kind in CONFIG_KINDS),
)
"""Nodes that every broker creates at its start if they do not exist."""


def broker(broker_id: int) -> str:
    return f"{BROKER_IDS}/{broker_id}"


def topic(name: str) -> str:
    return f"{BROKER_TOPICS}/{name}"


def topic_partitions(name: str) -> str:
    return f"{BROKER_TOPICS}/{name}/partitions"


def partition(of: TopicPartition) -> str:
    return f"{BROKER_TOPICS}/{of.topic}/partitions/{of.partition}"


def partition_state(of: TopicPartition) -> str:
    return f"{BROKER_TOPICS}/{of.topic}/partitions/{of.partition}/state"


def delete_topic(name: str) -> str:
    return f"{DELETE_TOPICS}/{name}"


def config(kind: str, name: str) -> str:
    """Returns the node with the configuration of an entity.

    >>> config("users", "CN=a b")
    '/config/users/CN%3Da%20b'
    """
    return f"/config/{config_entity(kind, name)}"


def config_entity(kind: str, name: str) -> str:
    """Returns an entity as in config change notifications: `topics/orders`."""
    return f"{kind}/{name if name == DEFAULT_ENTITY else sanitize(name)}"


def user_client_entity(user: str, client_id: str) -> str:
    """Returns the quota entity of a client id of a user: `users/alice/clients/etl`."""
    return f"{config_entity('users', user)}/{config_entity('clients', client_id)}"


def acls(resource_type: str, name: str) -> str:
    return f"{ACLS}/{resource_type}/{name}"


def prefixed_acls(resource_type: str, name: str) -> str:
    return f"{EXTENDED_ACLS}/prefixed/{resource_type}/{name}"


def delegation_token(token_id: str) -> str:
    return f"{DELEGATION_TOKENS}/{token_id}"


def consumer_ids(group: str) -> str:
    return f"{CONSUMERS}/{group}/ids"


def consumer_id(group: str, consumer: str) -> str:
    return f"{CONSUMERS}/{group}/ids/{consumer}"


def consumer_owners(group: str, topic_name: str) -> str:
    return f"{CONSUMERS}/{group}/owners/{topic_name}"


def consumer_owner(group: str, of: TopicPartition) -> str:
    return f"{CONSUMERS}/{group}/owners/{of.topic}/{of.partition}"


def consumer_offsets(group: str) -> str:
    return f"{CONSUMERS}/{group}/offsets"


def consumer_offset(group: str, of: TopicPartition) -> str:
    return f"{CONSUMERS}/{group}/offsets/{of.topic}/{of.partition}"


def sanitize(name: str) -> str:
    """Returns a name as Kafka's Sanitizer writes it: URL-encoded, blank as %20, * as %2A.

    >>> sanitize("a*b/c"), sanitize("~")
    ('a%2Ab%2Fc', '%7E')
    """
    # Java's URLEncoder keeps letters, digits and .-_; Python also keeps the tilde.
    return quote(name, safe="").replace("~", "%7E")


def desanitize(name: str) -> str:
    """Returns the name of which this is the sanitized form.

    >>> desanitize("a%2Ab")
    'a*b'
    """
    return unquote(name)
