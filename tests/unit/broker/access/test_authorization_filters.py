"""Authorization filters: lists without hidden names, and the operations a caller really has."""

from types import SimpleNamespace

import pytest

from barnabas.broker.access.access import Authorizers
from barnabas.broker.access.authorization.table import authorized
from barnabas.broker.handler import Handler, RequestContext
from barnabas.model.error_codes import ErrorCode
from barnabas.model.ids import ZERO_UUID, Uuid
from barnabas.net.close_reasons import ConnectionClosedError
from barnabas.security.acl import (
    CLUSTER,
    AccessEntry,
    AclBinding,
    Operation,
    Permission,
    Resource,
    ResourcePattern,
    ResourceType,
)
from barnabas.security.authorizer import AclSet, Authorizer
from barnabas.security.principal import Principal
from barnabas.wire.api_keys import ApiKey
from barnabas.wire.headers import RequestHeader
from barnabas.wire.messages import create_topics, delete_topics, list_groups, list_transactions
from barnabas.wire.messages import describe_cluster as clusters
from barnabas.wire.messages import describe_topic_partitions as pages
from barnabas.wire.messages import describe_transactions as transactions
from barnabas.wire.messages import metadata as metadatas
from barnabas.wire.messages import offset_fetch as offsets
from barnabas.wire.messages import produce as producing

ALICE = Principal("User", "alice")
OPEN, HIDDEN = "open", "hidden"
HIDDEN_ID = Uuid(b"\x01" * 16)
DENIED = ErrorCode.TOPIC_AUTHORIZATION_FAILED


def topic(name):
    return Resource(ResourceType.TOPIC, name)


def allow(operation, resource):
    entry = AccessEntry(str(ALICE), "*", operation, Permission.ALLOW)
    return AclBinding(ResourcePattern(resource.type, resource.name), entry)


DESCRIBE_OPEN = allow(Operation.DESCRIBE, topic(OPEN))


class Metadata:
    def topics(self):
        return [OPEN, HIDDEN]

    def has_topic(self, name):
        return name in (OPEN, HIDDEN)

    def topic_name(self, topic_id):
        return HIDDEN if topic_id == HIDDEN_ID else None


def ask(api, version, request, answer, *rules):
    """The response of a handler that returns `answer`, and the request that the handler got."""
    asked = []

    def serve(ctx, what):
        asked.append(what)
        return answer

    authorizer = Authorizer(AclSet(rules))
    (behind,) = authorized([Handler(api, (0, 99), serve)], Authorizers(authorizer))
    services = SimpleNamespace(metadata=Metadata(), config={"auto.create.topics.enable": True})
    connection = SimpleNamespace(
        listener_name="X", principal=ALICE, stream=SimpleNamespace(peer=("h", 1))
    )
    ctx = RequestContext(RequestHeader(int(api), version, 1, None), connection, services)
    response = behind.handle(ctx, request)
    return (ctx.amend(response) if asked and ctx.amend else response), asked


def described(name, code=0):
    return metadatas.MetadataResponseTopic(code, name)


@pytest.mark.parametrize("version", [0, 9])
def test_all_topics_are_those_that_may_be_described(version):
    answer = metadatas.MetadataResponse(topics=[described(OPEN), described(HIDDEN)])
    topics = [] if version == 0 else None
    request = metadatas.MetadataRequest(topics=topics)
    response, _ = ask(ApiKey.METADATA, version, request, answer, DESCRIBE_OPEN)
    assert [item.name for item in response.topics] == [OPEN]


def test_version_0_does_not_turn_nothing_into_everything():
    request = metadatas.MetadataRequest([metadatas.MetadataRequestTopic(name=HIDDEN)])
    answer = metadatas.MetadataResponse(topics=[described("", 17)])
    response, (asked,) = ask(ApiKey.METADATA, 0, request, answer)
    assert len(asked.topics) == 1
    assert [(item.name, item.error_code) for item in response.topics] == [(HIDDEN, DENIED)]


def test_the_name_of_a_hidden_topic_is_not_returned_for_its_id():
    request = metadatas.MetadataRequest([metadatas.MetadataRequestTopic(HIDDEN_ID, None)])
    response, _ = ask(ApiKey.METADATA, 12, request, metadatas.MetadataResponse(topics=[]))
    (only,) = response.topics
    assert (only.name, only.topic_id, only.error_code) == (None, HIDDEN_ID, DENIED)


@pytest.mark.parametrize(
    ("rules", "made"),
    [
        ([], False),
        ([allow(Operation.CREATE, topic("new"))], True),
        ([allow(Operation.CREATE, CLUSTER)], True),
    ],
)
def test_asking_makes_a_topic_only_with_the_right_to(rules, made):
    request = metadatas.MetadataRequest([metadatas.MetadataRequestTopic(name="new")])
    rules = [allow(Operation.DESCRIBE, topic("new")), *rules]
    response, (asked,) = ask(
        ApiKey.METADATA, 9, request, metadatas.MetadataResponse(topics=[]), *rules
    )
    assert bool(asked.topics) is made
    assert [item.error_code for item in response.topics] == ([] if made else [DENIED])


def test_operations_are_those_one_may_do():
    request = metadatas.MetadataRequest(
        [metadatas.MetadataRequestTopic(name=OPEN)],
        include_topic_authorized_operations=True,
        include_cluster_authorized_operations=True,
    )
    answer = metadatas.MetadataResponse(topics=[described(OPEN)])
    rule = allow(Operation.READ, topic(OPEN))
    response, _ = ask(ApiKey.METADATA, 9, request, answer, rule)
    assert response.topics[0].topic_authorized_operations == 1 << 3 | 1 << 8
    assert response.cluster_authorized_operations == 0
    asking = clusters.DescribeClusterRequest(True)
    answer = clusters.DescribeClusterResponse()
    response, _ = ask(ApiKey.DESCRIBE_CLUSTER, 0, asking, answer, allow(Operation.ALTER, CLUSTER))
    assert response.cluster_authorized_operations == 1 << 7 | 1 << 8


def test_pages_of_all_topics():
    request = pages.DescribeTopicPartitionsRequest([])
    answer = pages.DescribeTopicPartitionsResponse(topics=[])
    _, (asked,) = ask(ApiKey.DESCRIBE_TOPIC_PARTITIONS, 0, request, answer, DESCRIBE_OPEN)
    assert [item.name for item in asked.topics] == [OPEN]
    request = pages.DescribeTopicPartitionsRequest([])
    response, asked = ask(ApiKey.DESCRIBE_TOPIC_PARTITIONS, 0, request, answer)
    assert (response.topics, asked) == ([], [])


def test_only_visible_groups_and_transactions_are_listed():
    groups = [list_groups.ListedGroup(OPEN), list_groups.ListedGroup(HIDDEN)]
    rule = allow(Operation.READ, Resource(ResourceType.GROUP, OPEN))
    for rules, names in (([rule], [OPEN]), ([allow(Operation.DESCRIBE, CLUSTER)], [OPEN, HIDDEN])):
        answer = list_groups.ListGroupsResponse(groups=list(groups))
        response, _ = ask(ApiKey.LIST_GROUPS, 4, list_groups.ListGroupsRequest(), answer, *rules)
        assert [item.group_id for item in response.groups] == names
    states = [list_transactions.TransactionState(OPEN), list_transactions.TransactionState(HIDDEN)]
    answer = list_transactions.ListTransactionsResponse(transaction_states=states)
    rule = allow(Operation.WRITE, Resource(ResourceType.TRANSACTIONAL_ID, OPEN))
    request = list_transactions.ListTransactionsRequest()
    response, _ = ask(ApiKey.LIST_TRANSACTIONS, 0, request, answer, rule)
    assert [item.transactional_id for item in response.transaction_states] == [OPEN]


def test_a_described_transaction_shows_no_hidden_topics():
    state = transactions.TransactionState(
        0, "t", topics=[transactions.TopicData(OPEN, [0]), transactions.TopicData(HIDDEN, [0])]
    )
    answer = transactions.DescribeTransactionsResponse(transaction_states=[state])
    rule = allow(Operation.DESCRIBE, Resource(ResourceType.TRANSACTIONAL_ID, "t"))
    request = transactions.DescribeTransactionsRequest(["t"])
    response, _ = ask(ApiKey.DESCRIBE_TRANSACTIONS, 0, request, answer, rule, DESCRIBE_OPEN)
    assert [item.topic for item in response.transaction_states[0].topics] == [OPEN]


@pytest.mark.parametrize("version", [5, 8])
def test_all_offsets_of_a_group_but_those_of_hidden_topics(version):
    old = [offsets.OffsetFetchResponseTopic(name, []) for name in (OPEN, HIDDEN)]
    new = [offsets.OffsetFetchResponseTopics(name) for name in (OPEN, HIDDEN)]
    answer = offsets.OffsetFetchResponse(
        topics=old, groups=[offsets.OffsetFetchResponseGroup("g", new)]
    )
    request = offsets.OffsetFetchRequest(
        group_id="g", topics=None, groups=[offsets.OffsetFetchRequestGroup("g", topics=None)]
    )
    rule = allow(Operation.READ, Resource(ResourceType.GROUP, "g"))
    response, _ = ask(ApiKey.OFFSET_FETCH, version, request, answer, rule, DESCRIBE_OPEN)
    shown = response.topics if version < 8 else response.groups[0].topics
    assert [item.name for item in shown] == [OPEN]


def test_settings_of_a_new_topic_need_describe_configs():
    for rules, code in (([], DENIED), ([allow(Operation.DESCRIBE_CONFIGS, topic("t"))], 0)):
        result = create_topics.CreatableTopicResult(
            "t", num_partitions=3, replication_factor=1, configs=[]
        )
        answer = create_topics.CreateTopicsResponse(topics=[result])
        request = create_topics.CreateTopicsRequest([create_topics.CreatableTopic("t", 3, 1)])
        rules = [allow(Operation.CREATE, topic("t")), *rules]
        response, _ = ask(ApiKey.CREATE_TOPICS, 7, request, answer, *rules)
        (only,) = response.topics
        assert (only.topic_config_error_code, only.num_partitions) == (code, -1 if code else 3)


def test_deleting_by_id_does_not_tell_the_name():
    answer = delete_topics.DeleteTopicsResponse(responses=[])
    states = [delete_topics.DeleteTopicState(None, HIDDEN_ID)]
    request = delete_topics.DeleteTopicsRequest(states)
    response, _ = ask(ApiKey.DELETE_TOPICS, 6, request, answer)
    (only,) = response.responses
    assert (only.name, only.topic_id, only.error_code) == (None, HIDDEN_ID, DENIED)
    answer = delete_topics.DeleteTopicsResponse(responses=[])
    request = delete_topics.DeleteTopicsRequest([delete_topics.DeleteTopicState(HIDDEN)])
    response, _ = ask(ApiKey.DELETE_TOPICS, 6, request, answer)
    (only,) = response.responses
    assert (only.name, only.topic_id, only.error_code) == (HIDDEN, ZERO_UUID, DENIED)


def test_part_of_a_produce_is_served_and_the_rest_rejected():
    def data(name):
        return producing.TopicProduceData(
            name, ZERO_UUID, [producing.PartitionProduceData(0, memoryview(b""))]
        )

    rule = allow(Operation.WRITE, topic(OPEN))
    request = producing.ProduceRequest(acks=1, topic_data=[data(HIDDEN), data(OPEN)])
    response, (asked,) = ask(ApiKey.PRODUCE, 9, request, producing.ProduceResponse([]), rule)
    assert [item.name for item in asked.topic_data] == [OPEN]
    assert [item.name for item in response.responses] == [HIDDEN]
    request = producing.ProduceRequest(acks=0, topic_data=[data(HIDDEN), data(OPEN)])
    with pytest.raises(ConnectionClosedError):
        ask(ApiKey.PRODUCE, 9, request, producing.ProduceResponse([]), rule)
