"""Stored messages as Kafka's JSON: the fields of their version alone."""

from barnabas.cli.apache.message_formatters import message_data
from barnabas.wire.messages.group_metadata_value import GroupMetadataValue, MemberMetadata
from barnabas.wire.messages.offset_commit_value import OffsetCommitValue
from barnabas.wire.messages.transaction_log_value import PartitionsSchema, TransactionLogValue


def test_fields_come_and_go_with_versions():
    value = OffsetCommitValue(offset=5, leader_epoch=2, metadata="m", commit_timestamp=9)
    names = {version: list(message_data(value, version)) for version in (0, 1, 3)}
    assert names == {
        0: ["offset", "metadata", "commitTimestamp"],
        1: ["offset", "metadata", "commitTimestamp", "expireTimestamp"],
        3: ["offset", "leaderEpoch", "metadata", "commitTimestamp"],
    }


def test_tagged_fields_only_when_they_were_written():
    value = TransactionLogValue(
        producer_id=1, transaction_partitions=[PartitionsSchema("t", [0, 2])]
    )
    assert "clientTransactionVersion" not in message_data(value, 1)
    assert message_data(value, 1)["transactionPartitions"] == [
        {"topic": "t", "partitionIds": [0, 2]}
    ]
    value.client_transaction_version = 2
    assert message_data(value, 1)["clientTransactionVersion"] == 2


def test_bytes_are_base64():
    value = GroupMetadataValue(members=[MemberMetadata(member_id="m", subscription=b"\x00\xff")])
    (member,) = message_data(value, 3)["members"]
    assert (member["memberId"], member["subscription"]) == ("m", "AP8=")
