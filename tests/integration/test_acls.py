"""Access rules in force: our clients and confluent-kafka as users with few rights."""

import pytest
from support.security.secure_broker import AUTHORIZER, plain_jaas

from barnabas import Admin, Consumer, Producer, TopicPartition
from barnabas.admin import (
    LATEST,
    AccessEntry,
    AclBinding,
    AclFilter,
    ConfigResource,
    Operation,
    PatternType,
    Permission,
    ResourcePattern,
    ResourceType,
)
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BrokerError
from barnabas.testing import Broker
from barnabas.testing.server import unique_name

pytestmark = pytest.mark.integration

USERS = {"root": "root-secret", "alice": "alice-secret", "bob": "bob-secret"}


@pytest.fixture(scope="module")
def broker():
    settings = {
        "listeners": "SASL_PLAINTEXT://127.0.0.1:0",
        "sasl.enabled.mechanisms": "PLAIN",
        "listener.name.sasl_plaintext.plain.sasl.jaas.config": plain_jaas(USERS),
        "authorizer.class.name": AUTHORIZER,
        "super.users": "User:root",
    }
    with Broker(settings) as running:
        yield running


def config_of(broker, user):
    return {
        "bootstrap.servers": broker.bootstrap_servers,
        "security.protocol": "SASL_PLAINTEXT",
        "sasl.mechanism": "PLAIN",
        "sasl.username": user,
        "sasl.password": USERS[user],
    }


@pytest.fixture(scope="module")
def root(broker):
    with Admin(config_of(broker, "root")) as admin:
        yield admin


@pytest.fixture
def alice(broker, root):
    """Alice, whose rights end with the test."""
    with Admin(config_of(broker, "alice")) as admin:
        yield admin
    root.delete_acls([AclFilter(principal="User:alice")])


@pytest.fixture
def topic(root):
    name = unique_name("topic")
    root.create_topic(name, 1, 1)
    yield name
    root.delete_topics([name])


def allow(root, operation, kind, name, *, permission=Permission.ALLOW, prefixed=False):
    pattern = PatternType.PREFIXED if prefixed else PatternType.LITERAL
    entry = AccessEntry("User:alice", "*", operation, permission)
    root.create_acls([AclBinding(ResourcePattern(kind, name, pattern), entry)]).check()


def denied(code):
    return pytest.raises(BrokerError, match=code.name)


TOPIC, GROUP, CLUSTER = ResourceType.TOPIC, ResourceType.GROUP, ResourceType.CLUSTER
NO_TOPIC, NO_GROUP = ErrorCode.TOPIC_AUTHORIZATION_FAILED, ErrorCode.GROUP_AUTHORIZATION_FAILED
NO_CLUSTER = ErrorCode.CLUSTER_AUTHORIZATION_FAILED


def test_a_topic_without_a_rule_is_as_if_it_were_not_there(alice, topic):
    assert alice.list_topics() == []
    for name in (topic, "no-such-topic"):
        with denied(NO_TOPIC):
            alice.describe_topic(name)


def test_writing(broker, root, alice, topic):
    config = {**config_of(broker, "alice"), "enable.idempotence": False}
    with Producer(config) as producer, denied(NO_TOPIC):
        producer.send(topic, b"v").result(30)
    allow(root, Operation.WRITE, TOPIC, topic)
    with Producer(config_of(broker, "alice")) as producer:
        assert producer.send(topic, b"v").result(30).offset == 0
    allow(root, Operation.WRITE, TOPIC, topic, permission=Permission.DENY)
    with Producer(config) as producer, denied(NO_TOPIC):
        producer.send(topic, b"v").result(30)


def test_an_idempotent_producer_needs_a_topic_to_write_to(broker, root, alice, topic):
    """Passes when `denied` sees the authorization error of the send."""
    allow(root, Operation.DESCRIBE, TOPIC, topic)
    with Producer(config_of(broker, "alice")) as producer, denied(NO_CLUSTER):
        producer.send(topic, b"v").result(30)


def test_reading_in_a_group(broker, root, alice, topic):
    group = unique_name("group")
    with Producer(config_of(broker, "root")) as producer:
        producer.send(topic, b"v").result(30)
    config = {
        **config_of(broker, "alice"),
        "group.id": group,
        "auto.offset.reset": "earliest",
    }
    with Consumer(config) as consumer:
        consumer.subscribe([topic])
        with denied(NO_TOPIC):
            consumer.poll(timeout=30)
    allow(root, Operation.READ, TOPIC, topic[:8], prefixed=True)
    with Consumer(config) as consumer:
        consumer.subscribe([topic])
        with denied(NO_GROUP):
            consumer.poll(timeout=30)
    allow(root, Operation.READ, GROUP, group)
    with Consumer(config) as consumer:
        consumer.subscribe([topic])
        records = []
        for _ in range(60):
            records += [item for part in consumer.poll(timeout=1).values() for item in part]
            if records:
                break
        assert [record.value for record in records] == [b"v"]
        consumer.commit()


def test_a_right_taken_away_stops_an_open_fetch_session(broker, root, alice, topic):
    allow(root, Operation.READ, TOPIC, topic)
    with Consumer(config_of(broker, "alice")) as consumer:
        consumer.assign([TopicPartition(topic, 0)])
        consumer.seek(TopicPartition(topic, 0), 0)
        with Producer(config_of(broker, "root")) as producer:
            producer.send(topic, b"v").result(30)
            found = {}
            for _ in range(60):
                found = found or consumer.poll(timeout=1)
            assert found
            root.delete_acls([AclFilter(principal="User:alice")])
            producer.send(topic, b"hidden").result(30)
            with denied(NO_TOPIC):
                for _ in range(30):
                    assert not consumer.poll(timeout=1)


def test_administration(root, alice, topic):
    name = unique_name("made")
    with denied(NO_TOPIC):
        alice.create_topic(name, 1, 1)
    results = alice.delete_topics([topic])
    assert results.errors[topic].code is NO_TOPIC
    resource = ConfigResource.topic(topic)
    assert alice.describe_configs([resource]).errors[resource].code is NO_TOPIC
    with denied(NO_CLUSTER):
        alice.describe_acls()
    with denied(NO_CLUSTER):
        alice.describe_client_quotas()
    with denied(NO_CLUSTER):
        alice.describe_scram_users()
    topic_partition = TopicPartition(topic, 0)
    assert alice.list_offsets({topic_partition: LATEST}).errors[topic_partition].code is NO_TOPIC
    allow(root, Operation.CREATE, CLUSTER, "kafka-cluster")
    alice.create_topic(name, 1, 1)
    allow(root, Operation.ALL, TOPIC, name)
    assert alice.describe_topics([name], include_operations=True)[name].authorized_operations
    alice.delete_topics([name]).check()


def test_rules_are_kept(broker, root, alice, topic):
    """An ACL is the same after a restart, and the tree has it in Kafka's format."""
    allow(root, Operation.READ, TOPIC, topic)
    allow(root, Operation.DESCRIBE_CONFIGS, TOPIC, topic[:5], prefixed=True)
    chosen = AclFilter(principal="User:alice")
    before = root.describe_acls(chosen)
    assert len(before) == 2
    assert root.describe_acls(AclFilter(TOPIC, topic, PatternType.MATCH)) == before


def delivery_errors(confluent_kafka, config, topic):
    """The delivery result of one record, from confluent-kafka."""
    errors = []
    producer = confluent_kafka.Producer({**config, "message.timeout.ms": 20_000})
    producer.produce(topic, b"v", on_delivery=lambda error, _: errors.append(error))
    assert producer.flush(30) == 0
    return errors


def test_confluent_kafka_sees_kafkas_codes(broker, root, alice, topic):
    import confluent_kafka
    from confluent_kafka import admin as names

    refused = confluent_kafka.KafkaError.TOPIC_AUTHORIZATION_FAILED
    errors = delivery_errors(confluent_kafka, config_of(broker, "alice"), topic)
    assert [error.code() for error in errors] == [refused]
    admin = names.AdminClient(config_of(broker, "root"))
    write, literal = names.AclOperation.WRITE, names.ResourcePatternType.LITERAL
    allow, anything = names.AclPermissionType.ALLOW, names.AclPermissionType.ANY
    rule = names.AclBinding(
        names.ResourceType.TOPIC, topic, literal, "User:alice", "*", write, allow
    )
    for future in admin.create_acls([rule]).values():
        future.result(30)
    kind, pattern = names.ResourceType.ANY, names.ResourcePatternType.ANY
    everything = names.AclBindingFilter(
        kind, None, pattern, "User:alice", None, names.AclOperation.ANY, anything
    )
    assert admin.describe_acls(everything).result(30) == [rule]
    assert delivery_errors(confluent_kafka, config_of(broker, "alice"), topic) == [None]
    (deleted,) = admin.delete_acls([everything]).values()
    assert deleted.result(30) == [rule]
