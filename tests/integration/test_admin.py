"""The admin client against a real broker, or with --kafka-external against another cluster.

Where a broker does not serve an API the test is skipped and says so.
"""

import contextlib
import threading

import pytest

from barnabas import Consumer, Producer
from barnabas.admin import (
    EARLIEST,
    HIGH_WATERMARK,
    LATEST,
    MAX_TIMESTAMP,
    AccessEntry,
    AclBinding,
    AclFilter,
    Admin,
    AlterOperation,
    AsyncAdmin,
    ConfigChange,
    ConfigResource,
    ConfigSource,
    ElectionType,
    GroupState,
    GroupType,
    NewPartitions,
    NewTopic,
    OffsetSpec,
    Operation,
    PatternType,
    Permission,
    QuotaEntity,
    ResourcePattern,
    ResourceType,
    ScramCredentialInfo,
    ScramDeletion,
    ScramMechanism,
    ScramPassword,
    TopicListing,
)
from barnabas.admin.access_types import ANY, DEFAULT
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BrokerError
from barnabas.model.ids import TopicPartition, Uuid
from barnabas.model.records import OffsetAndMetadata
from barnabas.pytest_plugin.fixtures import external_servers
from barnabas.testing import Broker
from barnabas.testing.server import unique_name

pytestmark = pytest.mark.integration


@pytest.fixture(scope="module")
def admin(broker):
    with Admin({"bootstrap.servers": broker.bootstrap_servers}) as client:
        yield client


@pytest.fixture
def topic(broker, admin):
    name = broker.topic(partitions=2)
    yield name
    admin.delete_topics([name])


@contextlib.contextmanager
def served():
    """Skip where the broker does not have the API."""
    try:
        yield
    except BrokerError as error:
        if error.code in (ErrorCode.UNSUPPORTED_VERSION, ErrorCode.SECURITY_DISABLED):
            pytest.skip(str(error))
        raise


def code_of(results, item):
    return results.errors[item].code


def until(condition, seconds=60):
    """Wait until the broker that serves the request has a change: Kafka's brokers get it later."""
    pause, result = threading.Event(), condition()
    for _ in range(int(seconds / 0.05)):
        if result:
            break
        pause.wait(0.05)
        result = condition()
    return result


# -- topics -------------------------------------------------------------------------------------


def test_a_topics_life(admin):
    name = unique_name("life")
    made = admin.create_topic(name, 3, 1, {"retention.ms": "1000"})
    assert (made.partitions, made.replication_factor) == (3, 1)
    assert made.configs["retention.ms"] == "1000"
    assert until(lambda: TopicListing(name, made.topic_id, False) in admin.list_topics())

    described = admin.describe_topic(name)
    assert described.topic_id == made.topic_id
    assert [item.partition for item in described.partitions] == [0, 1, 2]
    assert all(item.leader in item.isr for item in described.partitions)
    assert admin.describe_topic(made.topic_id).name == name

    admin.create_partitions({name: 5}).check()
    assert until(lambda: len(admin.describe_topic(name).partitions) == 5)
    admin.delete_topic(name)
    assert until(lambda: name not in [each.name for each in admin.list_topics()])
    with pytest.raises(BrokerError, match="UNKNOWN_TOPIC_OR_PARTITION"):
        admin.describe_topic(name)


def test_deletion_by_id(admin):
    made = admin.create_topic(unique_name("by-id"))
    admin.delete_topic(made.topic_id)
    unknown = Uuid(b"nobody-has-this!")
    assert code_of(admin.delete_topics([unknown]), unknown) is ErrorCode.UNKNOWN_TOPIC_ID


def test_each_topic_has_its_own_outcome(admin, topic):
    fine = unique_name("fine")
    results = admin.create_topics(
        [
            NewTopic(topic),
            NewTopic(fine),
            NewTopic("no good name"),
            NewTopic(unique_name("many"), replication_factor=99),
            NewTopic(unique_name("odd"), configs={"retention.ms": "soon"}),
        ]
    )
    assert list(results.ok) == [fine]
    assert [error.code for error in results.errors.values()] == [
        ErrorCode.TOPIC_ALREADY_EXISTS,
        ErrorCode.INVALID_TOPIC_EXCEPTION,
        ErrorCode.INVALID_REPLICATION_FACTOR,
        ErrorCode.INVALID_CONFIG,
    ]
    admin.delete_topic(fine)


def test_trying_out_changes_nothing(admin, topic):
    name = unique_name("not-made")
    assert admin.create_topics([NewTopic(name, 4)], validate_only=True).check()
    assert name not in [each.name for each in admin.list_topics()]
    admin.create_partitions({topic: 7}, validate_only=True).check()
    assert len(admin.describe_topic(topic).partitions) == 2


def test_replicas_placed_by_hand(admin):
    broker = admin.describe_cluster().brokers[0].id
    name = unique_name("placed")
    admin.create_topics([NewTopic(name, assignments=[[broker], [broker]])]).check()
    admin.create_partitions({name: NewPartitions(3, [[broker]])}).check()
    placed = [(broker,)] * 3
    assert until(lambda: [p.replicas for p in admin.describe_topic(name).partitions] == placed)
    admin.delete_topic(name)


def test_partitions_never_become_fewer(admin, topic):
    results = admin.create_partitions({topic: 1})
    assert code_of(results, topic) is ErrorCode.INVALID_PARTITIONS


# -- configs ------------------------------------------------------------------------------------


def test_settings_are_changed_and_taken_back(admin, topic):
    resource = ConfigResource.topic(topic)
    admin.alter_configs({resource: {"retention.ms": "5000", "segment.ms": "6000"}}).check()

    def source_and_value(name):
        entry = admin.describe_configs([resource])[resource][name]
        return entry.source, entry.value

    own = ConfigSource.DYNAMIC_TOPIC_CONFIG
    assert until(lambda: source_and_value("retention.ms") == (own, "5000"))
    admin.alter_configs({resource: {"retention.ms": None}}).check()
    assert until(lambda: source_and_value("retention.ms")[0] is not own)
    assert source_and_value("segment.ms") == (own, "6000")


def test_lists_grow_and_shrink(admin, topic):
    resource = ConfigResource.topic(topic)
    grow = ConfigChange("cleanup.policy", "compact", AlterOperation.APPEND)
    shrink = ConfigChange("cleanup.policy", "delete", AlterOperation.SUBTRACT)
    names = ["cleanup.policy"]

    def policy():
        entries = admin.describe_configs([resource], names=names, synonyms=True)[resource]
        assert list(entries) == names
        return entries["cleanup.policy"]

    admin.alter_configs({resource: [grow]}).check()
    admin.alter_configs({resource: [shrink]}).check()
    assert until(lambda: policy().value == "compact")
    assert policy().synonyms


def test_bad_settings_are_rejected_one_by_one(admin, topic):
    good, bad = ConfigResource.topic(topic), ConfigResource.topic(unique_name("missing"))
    changes = {"retention.ms": "1"}
    results = admin.alter_configs({good: {"no.such.key": "1"}, bad: changes})
    assert code_of(results, good) is ErrorCode.INVALID_CONFIG
    assert code_of(results, bad) is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert admin.alter_configs({good: changes}, validate_only=True).check()
    entries = admin.describe_configs([good])[good]
    assert entries["retention.ms"].value != "1"


def test_a_brokers_settings(admin):
    resource = ConfigResource.broker(admin.describe_cluster().brokers[0].id)
    entries = admin.describe_configs([resource], documentation=True)[resource]
    assert entries["log.dirs"].read_only
    assert entries["num.partitions"].value is not None


def test_resources_with_settings(admin):
    """Passes when the response is the one that `served` prescribes."""
    with served():
        admin.list_config_resources()


# -- cluster ------------------------------------------------------------------------------------


def test_the_cluster(admin):
    cluster = admin.describe_cluster(include_operations=True)
    assert cluster.cluster_id
    assert cluster.controller in [node.id for node in cluster.brokers]
    versions = {each.name: each for each in admin.describe_api_versions(cluster.brokers[0].id)}
    assert versions["METADATA"].max_version >= 12
    admin.describe_features()


def test_directories(admin, broker, topic):
    broker.produce(topic, "v" * 1000, partition=1)
    topic_partition = TopicPartition(topic, 1)
    for dirs in admin.describe_log_dirs(partitions=[topic_partition]).check().values():
        sizes = [
            each.replicas[topic_partition].size_bytes
            for each in dirs
            if topic_partition in each.replicas
        ]
        assert sizes
        assert sizes[0] > 1000


# -- offsets and records ------------------------------------------------------------------------


def test_offsets_by_word_and_by_time(admin, broker, topic):
    topic_partition, other = TopicPartition(topic, 0), TopicPartition(topic, 1)
    with Producer({"bootstrap.servers": broker.bootstrap_servers}) as producer:
        for timestamp in (1000, 3000, 2000):
            producer.send(topic, b"v", partition=0, timestamp=timestamp)

    def offset(spec, where=topic_partition):
        return admin.list_offsets({where: spec})[where]

    assert offset(EARLIEST).offset == 0
    assert offset(LATEST).offset == 3
    assert offset(LATEST, other).offset == 0
    assert offset(OffsetSpec.at(1500)).offset == 1
    assert offset(OffsetSpec.at(1500)).timestamp == 3000
    assert offset(OffsetSpec.at(9000)).offset is None
    assert offset(MAX_TIMESTAMP).offset == 1
    assert offset(MAX_TIMESTAMP).timestamp == 3000


def test_records_before_an_offset_go(admin, broker, topic):
    broker.produce(topic, "a", "b", "c", partition=0)
    broker.produce(topic, "d", partition=1)
    first, second = TopicPartition(topic, 0), TopicPartition(topic, 1)
    results = admin.delete_records({first: 2, second: HIGH_WATERMARK})
    assert results.check() == {first: 2, second: 1}
    assert [record.value for record in broker.records(topic)] == [b"c"]
    assert code_of(admin.delete_records({first: 99}), first) is ErrorCode.OFFSET_OUT_OF_RANGE


# -- groups -------------------------------------------------------------------------------------


@pytest.fixture
def group():
    return unique_name("group")


@contextlib.contextmanager
def member(broker, group, topic):
    """A foreign consumer that is a member of a group, with its assignment."""
    confluent_kafka = pytest.importorskip("confluent_kafka")
    consumer = confluent_kafka.Consumer(
        {
            "bootstrap.servers": broker.bootstrap_servers,
            "group.id": group,
            "client.id": "member",
            "auto.offset.reset": "earliest",
        }
    )
    consumer.subscribe([topic])
    try:
        for _ in range(600):
            consumer.poll(0.1)
            if consumer.assignment():
                break
        yield consumer
    finally:
        consumer.close()


def test_offsets_of_a_group_without_members(admin, broker, topic, group):
    broker.produce(topic, *"abcdef", partition=0)
    first, second = TopicPartition(topic, 0), TopicPartition(topic, 1)
    results = admin.alter_group_offsets(group, {first: OffsetAndMetadata(4, "note"), second: 0})
    results.check()
    offsets = admin.list_group_offsets([group])[group]
    assert (offsets[first].offset, offsets[first].metadata) == (4, "note")
    assert offsets[second].offset == 0
    some = admin.list_group_offsets({group: [second, TopicPartition(topic, 9)]})[group]
    assert list(some) == [second]

    listing = next(each for each in admin.list_groups() if each.group_id == group)
    assert listing.state is GroupState.EMPTY
    admin.delete_group_offsets(group, [second]).check()
    assert list(admin.list_group_offsets([group])[group]) == [first]
    admin.delete_groups([group]).check()
    assert group not in [each.group_id for each in admin.list_groups()]
    assert code_of(admin.delete_groups([group]), group) is ErrorCode.GROUP_ID_NOT_FOUND


def test_a_group_with_a_member(admin, broker, topic, group):
    topic_partition = TopicPartition(topic, 0)
    with member(broker, group, topic):
        described = admin.describe_group(group)
        assert (described.state, described.type) == (GroupState.STABLE, GroupType.CLASSIC)
        assert described.protocol_type == "consumer"
        assert described.coordinator is not None
        (only,) = described.members
        assert only.client_id == "member"
        assert set(only.assignment) == {topic_partition, TopicPartition(topic, 1)}
        stable = [each.group_id for each in admin.list_groups(states=[GroupState.STABLE])]
        assert group in stable
        assert group not in [each.group_id for each in admin.list_groups(states=["Empty"])]

        assert code_of(admin.delete_groups([group]), group) is ErrorCode.NON_EMPTY_GROUP
        results = admin.alter_group_offsets(group, {topic_partition: 1})
        assert code_of(results, topic_partition) is ErrorCode.UNKNOWN_MEMBER_ID
        results = admin.delete_group_offsets(group, [topic_partition])
        assert code_of(results, topic_partition) is ErrorCode.GROUP_SUBSCRIBED_TO_TOPIC


def test_a_group_of_the_new_protocol(admin, broker, topic, group):
    config = {"bootstrap.servers": broker.bootstrap_servers, "group.id": group}
    with Consumer({**config, "group.protocol": "consumer", "client.id": "newer"}) as consumer:
        consumer.subscribe([topic])

        def assigned():
            consumer.poll(0.1)
            return consumer.assignment()

        with served():
            assert until(assigned)
        described = admin.describe_group(group)
        assert described.type is GroupType.CONSUMER
        assert described.group_epoch is not None
        (only,) = described.members
        assert only.client_id == "newer"
        assert only.subscribed_topics == (topic,)
        assert set(only.assignment) == {TopicPartition(topic, 0), TopicPartition(topic, 1)}
        kinds = [each.group_id for each in admin.list_groups(types=[GroupType.CONSUMER])]
        assert group in kinds
        assert group not in [each.group_id for each in admin.list_groups(types=["classic"])]


def test_members_are_taken_out(admin, broker, topic, group):
    with member(broker, group, topic):
        assert len(admin.remove_group_members(group).check()) == 1


def test_a_group_that_is_not_there(admin, group):
    with pytest.raises(BrokerError, match="GROUP_ID_NOT_FOUND"):
        admin.describe_group(group)
    assert admin.list_group_offsets([group])[group] == {}


# -- transactions and placement -----------------------------------------------------------------


def test_transactions_are_seen_and_fenced(admin, broker, topic):
    name = unique_name("transaction")
    topic_partition = TopicPartition(topic, 0)
    config = {"bootstrap.servers": broker.bootstrap_servers, "transactional.id": name}
    with served():
        admin.list_transactions()
    with Producer(config) as producer:
        producer.init_transactions()
        producer.begin_transaction()
        producer.send(topic, b"v", partition=0).result(60)
        listing = next(each for each in admin.list_transactions() if each.transactional_id == name)
        assert listing.state == "Ongoing"
        described = admin.describe_transactions([name])[name]
        assert described.partitions == (topic_partition,)
        assert described.started_ms is not None
        (state,) = admin.describe_producers([topic_partition])[topic_partition]
        assert state.producer_id == described.producer_id
        assert state.transaction_start_offset == 0
        fenced = admin.fence_producers([name])[name]
        assert fenced.producer_epoch > described.producer_epoch
        with contextlib.suppress(BrokerError):
            producer.abort_transaction()


def test_leaders_that_are_right_are_left(admin, topic):
    topic_partition = TopicPartition(topic, 0)
    with served():
        results = admin.elect_leaders(ElectionType.PREFERRED, [topic_partition])
        assert code_of(results, topic_partition) is ErrorCode.ELECTION_NOT_NEEDED


def test_no_moves_are_under_way(admin, topic):
    topic_partition = TopicPartition(topic, 0)
    with served():
        assert admin.list_partition_reassignments() == {}
        results = admin.alter_partition_reassignments({topic_partition: None})
        assert code_of(results, topic_partition) is ErrorCode.NO_REASSIGNMENT_IN_PROGRESS


def test_a_move_to_where_it_is(admin, topic):
    topic_partition = TopicPartition(topic, 0)
    replicas = admin.describe_topic(topic).partitions[0].replicas
    with served():
        admin.alter_partition_reassignments({topic_partition: replicas}).check()
        assert until(lambda: not admin.list_partition_reassignments([topic_partition]))


# -- access -------------------------------------------------------------------------------------


@pytest.fixture
def rules_admin(admin, pytestconfig):
    """An administrator of a broker with an authorizer, or of the cluster under test."""
    if external_servers(pytestconfig) is not None:
        yield admin
        return
    settings = {
        "authorizer.class.name": "kafka.security.authorizer.AclAuthorizer",
        "super.users": "User:ANONYMOUS",
    }
    with (
        Broker(settings) as guarded,
        Admin({"bootstrap.servers": guarded.bootstrap_servers}) as client,
    ):
        yield client


def test_rules(rules_admin):
    admin = rules_admin
    principal = f"User:{unique_name('user')}"
    rule = AclBinding(
        ResourcePattern(ResourceType.TOPIC, "orders-", PatternType.PREFIXED),
        AccessEntry(principal, "*", Operation.READ, Permission.ALLOW),
    )
    with served():
        admin.create_acls([rule]).check()
        chosen = AclFilter(principal=principal)
        assert until(lambda: admin.describe_acls(chosen) == [rule])
        assert admin.delete_acls([chosen])[chosen] == (rule,)
        assert until(lambda: admin.describe_acls(chosen) == [])
        odd = AclBinding(rule.pattern, AccessEntry(principal, "*", Operation.ANY, Permission.ALLOW))
        assert odd in admin.create_acls([odd]).errors


def test_quotas(admin):
    entity = QuotaEntity(user=unique_name("user"), client_id=DEFAULT)
    with served():
        admin.alter_client_quotas({entity: {"producer_byte_rate": 1024.0}}).check()
        expected = {entity: {"producer_byte_rate": 1024.0}}
        assert until(lambda: admin.describe_client_quotas(entity, strict=True) == expected)
        assert entity in admin.describe_client_quotas(QuotaEntity(user=ANY))
        admin.alter_client_quotas({entity: {"producer_byte_rate": None}}).check()
        assert until(lambda: admin.describe_client_quotas(entity, strict=True) == {})
        wrong = admin.alter_client_quotas({entity: {"no_such_rate": 1.0}})
        assert code_of(wrong, entity) is ErrorCode.INVALID_REQUEST


def test_users(admin):
    user = unique_name("user")
    mechanism = ScramMechanism.SCRAM_SHA_256
    with served():
        admin.alter_scram_users([ScramPassword(user, "secret", mechanism)]).check()
        expected = (ScramCredentialInfo(mechanism, 8192),)
        assert until(lambda: admin.describe_scram_users().ok.get(user) == expected)
        admin.alter_scram_users(deletions=[ScramDeletion(user, mechanism)]).check()
        gone = ErrorCode.RESOURCE_NOT_FOUND
        assert until(
            lambda: (
                user in (found := admin.describe_scram_users([user])).errors
                and code_of(found, user) is gone
            )
        )


def test_tokens_need_a_login(admin):
    with pytest.raises(BrokerError, match=r"DELEGATION_TOKEN|UNSUPPORTED") as refused:
        admin.create_delegation_token()
    if refused.value.code is not ErrorCode.UNSUPPORTED_VERSION:
        with pytest.raises(BrokerError, match="DELEGATION_TOKEN"):
            admin.describe_delegation_tokens()


# -- asyncio ------------------------------------------------------------------------------------


async def test_the_same_awaited(broker):
    async with AsyncAdmin({"bootstrap.servers": broker.bootstrap_servers}) as admin:
        name = unique_name("awaited")
        await admin.create_topic(name, partitions=2)
        description = await admin.describe_topic(name)
        assert len(description.partitions) == 2
        await admin.delete_topic(name)
