"""Messages that no other Python codec knows, against bytes written down by hand.

ZooKeeper's control plane and the coordinators' records have no outside judge in the suite, so
their layouts are pinned here.
"""

import pytest

from barnabas.model.ids import Uuid
from barnabas.wire.messages import alter_partition as ap
from barnabas.wire.messages import controlled_shutdown as cs
from barnabas.wire.messages import group_metadata_value as gm
from barnabas.wire.messages import leader_and_isr as li
from barnabas.wire.messages import stop_replica as sr
from barnabas.wire.messages import update_metadata as um

TOPIC_ID = Uuid(range(16))
ID_HEX = "000102030405060708090a0b0c0d0e0f"

PARTITION = li.LeaderAndIsrPartitionState("t", 1, 2, 3, 4, [3], 5, [3, 6], [6], [7], True, 1)
LEADER_AND_ISR = li.LeaderAndIsrRequest(
    controller_id=1,
    controller_epoch=2,
    broker_epoch=9,
    type=2,
    ungrouped_partition_states=[PARTITION],
    topic_states=[li.LeaderAndIsrTopicState("t", TOPIC_ID, [PARTITION])],
    live_leaders=[li.LeaderAndIsrLiveLeader(3, "h", 9092)],
)
STOP_REPLICA = sr.StopReplicaRequest(
    controller_id=1,
    is_kraft_controller=True,
    controller_epoch=2,
    broker_epoch=9,
    delete_partitions=True,
    topics=[sr.StopReplicaTopicV1("t", [0])],
    topic_states=[sr.StopReplicaTopicState("t", [sr.StopReplicaPartitionState(0, -2, True)])],
)
UPDATE_METADATA = um.UpdateMetadataRequest(
    controller_id=1,
    type=2,
    controller_epoch=2,
    broker_epoch=9,
    topic_states=[
        um.UpdateMetadataTopicState(
            "t", TOPIC_ID, [um.UpdateMetadataPartitionState("t", 0, 2, 3, 4, [3], 5, [3, 6], [6])]
        )
    ],
    live_brokers=[
        um.UpdateMetadataBroker(3, "h", 9, [um.UpdateMetadataEndpoint(9, "h", "L", 1)], None)
    ],
)


@pytest.mark.parametrize(
    ("message", "version", "expected"),
    [
        pytest.param(
            LEADER_AND_ISR,
            0,
            "00000001 00000002"
            "00000001 000174 00000001 00000002 00000003 00000004"
            "00000001 00000003  00000005  00000002 00000003 00000006"
            "00000001 00000003 000168 00002384",
            id="LeaderAndIsr v0: partitions not grouped",
        ),
        pytest.param(
            LEADER_AND_ISR,
            7,
            "00000001 00 00000002 0000000000000009 02"
            f"02 0274 {ID_HEX}"
            "02 00000001 00000002 00000003 00000004 02 00000003 00000005 03 00000003 00000006"
            "02 00000006 02 00000007 01 01 00"
            "00"
            "02 00000003 0268 00002384 00"
            "00",
            id="LeaderAndIsr v7",
        ),
        pytest.param(
            li.LeaderAndIsrResponse(
                3,
                [li.LeaderAndIsrPartitionError("t", 1, 6)],
                [li.LeaderAndIsrTopicError(TOPIC_ID, [li.LeaderAndIsrPartitionError("t", 1, 6)])],
            ),
            5,
            f"0003 02 {ID_HEX} 02 00000001 0006 00 00 00",
            id="LeaderAndIsr response v5: by topic id",
        ),
        pytest.param(
            STOP_REPLICA,
            1,
            "00000001 00000002 0000000000000009 01 00000001 000174 00000001 00000000",
            id="StopReplica v1: one delete flag for all",
        ),
        pytest.param(
            STOP_REPLICA,
            4,
            "00000001 01 00000002 0000000000000009 02 0274 02 00000000 fffffffe 01 00 00 00",
            id="StopReplica v4",
        ),
        pytest.param(
            UPDATE_METADATA,
            8,
            "00000001 00 00000002 0000000000000009"
            f"02 0274 {ID_HEX}"
            "02 00000000 00000002 00000003 00000004 02 00000003 00000005 03 00000003 00000006"
            "02 00000006 00"
            "00"
            "02 00000003 02 00000009 0268 024c 0001 00 00 00"
            "01 00 01 02",
            id="UpdateMetadata v8: the type is tagged",
        ),
        pytest.param(
            um.UpdateMetadataRequest(live_brokers=[um.UpdateMetadataBroker(3, "h", 9)]),
            0,
            "00000000 00000000 00000000 00000001 00000003 000168 00000009",
            id="UpdateMetadata v0: one address per broker",
        ),
        pytest.param(cs.ControlledShutdownRequest(3, 9), 1, "00000003", id="ControlledShutdown v1"),
        pytest.param(
            cs.ControlledShutdownRequest(3, 9), 3, "00000003 0000000000000009 00", id="and v3"
        ),
        pytest.param(
            ap.AlterPartitionRequest(
                3,
                9,
                [ap.TopicData("t", TOPIC_ID, [ap.PartitionData(0, 4, [3], [], 1, 5)])],
            ),
            1,
            "00000003 0000000000000009"
            "02 0274 02 00000000 00000004 02 00000003 01 00000005 00 00 00",
            id="AlterPartition v1: by name",
        ),
        pytest.param(
            gm.GroupMetadataValue(
                "consumer",
                2,
                "range",
                None,
                7,
                [gm.MemberMetadata("m", None, "c", "h", 300, 45, b"s", b"")],
            ),
            3,
            "0008 636f6e73756d6572 00000002 0005 72616e6765 ffff 0000000000000007"
            "00000001 00016d ffff 000163 000168 0000012c 0000002d 00000001 73 00000000",
            id="group metadata v3",
        ),
    ],
)
def test_a_message_has_kafkas_bytes(message, version, expected):
    assert b"".join(message.encode(version)).hex() == expected.replace(" ", "")
