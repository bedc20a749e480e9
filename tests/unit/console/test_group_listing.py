"""Groups of brokers, of Spark queries and of ZooKeeper in one list."""

from barnabas.admin import GroupListing, GroupState, GroupType
from barnabas.clients.connector.group_tools import GroupReport, PartitionReport
from barnabas.console.services.group_listing import ZooKeeperGroups, listed_groups, listed_report
from barnabas.model.ids import TopicPartition
from barnabas.model.records import OffsetAndMetadata
from barnabas.spark.source.group_offsets import TOPIC_IDS_PARTITION

ORDERS = TopicPartition("orders", 0)


def listing(name, kind=GroupType.CLASSIC):
    return GroupListing(name, "consumer", GroupState.EMPTY, kind)


def test_a_spark_query_is_one_group_with_its_own_type():
    found = listed_groups(
        [listing("spark-orders"), listing("spark-orders-topics"), listing("billing")],
        {
            "spark-orders": {ORDERS: OffsetAndMetadata(5)},
            "spark-orders-topics": {TOPIC_IDS_PARTITION: OffsetAndMetadata(0, "ids")},
            "billing": {ORDERS: OffsetAndMetadata(1)},
        },
    )
    assert [(item.name, item.type) for item in found] == [
        ("spark-orders", "Spark"),
        ("billing", "Classic"),
    ]


def test_a_group_whose_name_only_ends_alike_is_listed():
    offsets = {"my-topics": {ORDERS: OffsetAndMetadata(1)}}
    found = listed_groups([listing("my-topics", GroupType.SHARE)], offsets)
    assert [(item.name, item.type) for item in found] == [("my-topics", "Share")]


def test_a_group_in_zookeeper_has_members_and_offsets():
    partitions = (
        PartitionReport(ORDERS, 3, 10, "m-0"),
        PartitionReport(TopicPartition("orders", 1), None, 4, None),
    )
    found = listed_report(GroupReport("old", ("m",), partitions))
    assert (found.type, found.state, found.members) == ("ZooKeeper", "Stable", 1)
    assert found.offsets == {ORDERS: OffsetAndMetadata(3)}
    assert found.key != "old"  # the brokers may have a group of the same name


async def test_without_an_address_there_are_no_groups_in_zookeeper():
    assert await ZooKeeperGroups(None, {}).list_groups() == []
