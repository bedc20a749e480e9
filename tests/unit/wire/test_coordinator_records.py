import pytest

from barnabas.model.errors import LocalError, ProtocolError
from barnabas.wire.coordinator_records import (
    decode_versioned,
    encode_versioned,
    maybe_decode_offsets_record,
    maybe_decode_transaction_record,
    record_class,
)
from barnabas.wire.messages.consumer_group_member_metadata_value import (
    ClassicMemberMetadata,
    ClassicProtocol,
    ConsumerGroupMemberMetadataValue,
)
from barnabas.wire.messages.consumer_protocol_subscription import ConsumerProtocolSubscription
from barnabas.wire.messages.control_record_type import ControlRecordType
from barnabas.wire.messages.end_txn_marker import EndTxnMarker
from barnabas.wire.messages.group_metadata_key import GroupMetadataKey
from barnabas.wire.messages.group_metadata_value import GroupMetadataValue
from barnabas.wire.messages.offset_commit_key import OffsetCommitKey
from barnabas.wire.messages.offset_commit_value import OffsetCommitValue
from barnabas.wire.messages.transaction_log_key import TransactionLogKey
from barnabas.wire.messages.transaction_log_value import PartitionsSchema, TransactionLogValue


def test_offset_commit_to_the_byte():
    key = encode_versioned(OffsetCommitKey("g", "t", 3), 1)
    value = encode_versioned(OffsetCommitValue(42, 7, "m", 1000), 3)
    assert key.hex() == "0001" + "000167" + "000174" + "00000003"
    assert value.hex() == "0003" + f"{42:016x}" + "00000007" + "00016d" + f"{1000:016x}"
    assert maybe_decode_offsets_record(key, value) == (
        OffsetCommitKey("g", "t", 3),
        OffsetCommitValue(42, 7, "m", 1000),
    )


def test_a_tombstone_has_a_key_and_no_value():
    key = encode_versioned(GroupMetadataKey("g"), 2)
    assert maybe_decode_offsets_record(key, None) == (GroupMetadataKey("g"), None)


@pytest.mark.parametrize("version", [3, 4, 5, 6, 7, 8, 16])
def test_kip_848_keys_tell_their_kind(version):
    names = {
        3: "ConsumerGroupMetadataKey",
        4: "ConsumerGroupPartitionMetadataKey",
        5: "ConsumerGroupMemberMetadataKey",
        6: "ConsumerGroupTargetAssignmentMetadataKey",
        7: "ConsumerGroupTargetAssignmentMemberKey",
        8: "ConsumerGroupCurrentMemberAssignmentKey",
        16: "ConsumerGroupRegularExpressionKey",
    }
    cls = record_class(names[version])
    key = cls(group_id="g")
    value_class = record_class(names[version].removesuffix("Key") + "Value")
    record = encode_versioned(key, version), encode_versioned(value_class(), 0)
    assert maybe_decode_offsets_record(*record) == (key, value_class())


def test_unknown_kinds_are_passed_over():
    assert maybe_decode_offsets_record(b"\x00\x0b" + b"share group", b"\0\0") is None
    assert maybe_decode_transaction_record(b"\x00\x09", None) is None


def test_value_from_the_future_is_rejected():
    key = encode_versioned(OffsetCommitKey("g", "t", 3), 1)
    with pytest.raises(ProtocolError, match="OffsetCommitValue has no version 9"):
        maybe_decode_offsets_record(key, b"\0\x09" + bytes(40))


def test_subscription_from_the_future_is_read_as_ours():
    """Members may use a newer version; its additional fields follow the known ones."""
    raw = encode_versioned(ConsumerProtocolSubscription(["t"], b"u", [], 5, "rack"), 3)
    newer = b"\x00\x04" + raw[2:] + b"more"
    assert decode_versioned(ConsumerProtocolSubscription, newer).rack_id == "rack"


@pytest.mark.parametrize("raw", [b"", b"\0"])
def test_a_key_without_a_version_is_an_error(raw):
    with pytest.raises(ProtocolError, match="no version"):
        maybe_decode_offsets_record(raw, None)


def test_classic_member_of_a_new_group():
    """A tagged nullable struct: size, then the marker of a present struct, then the struct."""
    classic = ClassicMemberMetadata(45_000, [ClassicProtocol("range", b"\1")])
    value = ConsumerGroupMemberMetadataValue(
        instance_id=None,
        rack_id=None,
        client_id="c",
        client_host="h",
        subscribed_topic_regex=None,
        server_assignor=None,
        classic_member_metadata=classic,
    )
    raw = encode_versioned(value, 0)
    assert raw.endswith(bytes.fromhex("01 00 10 01 0000afc8 02 0672616e6765 0201 00 00"))
    assert decode_versioned(ConsumerGroupMemberMetadataValue, raw) == value


def test_an_old_transaction_record_is_decoded():
    key = TransactionLogKey("tx")
    value = TransactionLogValue(
        producer_id=9,
        producer_epoch=1,
        transaction_timeout_ms=60_000,
        transaction_status=1,
        transaction_partitions=[PartitionsSchema("t", [0, 1])],
        transaction_last_update_timestamp_ms=5,
        transaction_start_timestamp_ms=4,
    )
    old = encode_versioned(value, 0)
    assert maybe_decode_transaction_record(encode_versioned(key, 0), old) == (key, value)
    value.previous_producer_id, value.next_producer_id = 7, 8
    value.client_transaction_version, value.next_producer_epoch = 2, 3
    new = encode_versioned(value, 1)
    assert maybe_decode_transaction_record(encode_versioned(key, 0), new) == (key, value)


def test_a_control_record_has_kafkas_bytes():
    assert encode_versioned(ControlRecordType(1), 0).hex() == "00000001"
    assert encode_versioned(EndTxnMarker(12), 0).hex() == "00000000000c"


def test_group_metadata_versions():
    for version in range(5):
        value = GroupMetadataValue("consumer", 3, "range", "m1")
        assert decode_versioned(GroupMetadataValue, encode_versioned(value, version)) == value


def test_no_such_record():
    with pytest.raises(LocalError, match="unknown record class NoSuchKey"):
        record_class("NoSuchKey")
