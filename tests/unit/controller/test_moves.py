"""Reassignment, elections by request, controlled shutdown, on the embedded tree."""

import asyncio

import pytest
from support.cluster.controller_cluster import ControllerCluster

from barnabas.controller.active.epoch_state import ControllerConfig
from barnabas.controller.machines.leader_election import ElectionKind
from barnabas.model.control import AlterPartitionChange
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BrokerError
from barnabas.model.ids import ZERO_UUID, ReplicaAssignment, TopicPartition
from barnabas.zk import paths
from barnabas.zk.znodes import PartitionListNode, ReassignPartitionsNode

T0 = TopicPartition("t", 0)
NONE = ErrorCode.NONE


async def topic_on(cluster, *replicas):
    await cluster.admin.create_topic("t", {0: replicas})
    await cluster.wait_for_leader("t", replicas[0])


async def report_isr(cluster, *isr):
    """The reaction of a leader to followers that have caught up or fallen behind."""
    state, stat = await cluster.state("t"), await cluster.tree.exists(paths.partition_state(T0))
    change = AlterPartitionChange(T0, ZERO_UUID, state.leader_epoch, stat.version, isr)
    epoch = cluster.nodes[state.leader].registration.broker_epoch
    replies = await cluster.active.controller.alter_partition(state.leader, epoch, [change])
    assert replies[T0].error is NONE


async def reassign(cluster, target) -> ErrorCode:
    return (await cluster.active.controller.alter_reassignments({T0: target}))[T0]


async def assignment(cluster) -> ReplicaAssignment:
    return (await cluster.topic("t")).partitions[0]


async def test_reassignment_waits_for_the_targets_and_then_moves(cluster):
    await cluster.start(1, 2, 3, 4)
    await topic_on(cluster, 1, 2)
    assert await reassign(cluster, (3, 4)) is NONE
    moving = ReplicaAssignment((3, 4, 1, 2), (3, 4), (1, 2))
    assert await assignment(cluster) == moving
    assert await cluster.active.controller.list_reassignments() == {T0: moving}
    await cluster.wait(lambda: T0 in cluster.broker(3).roles)
    assert cluster.broker(3).roles[T0].is_new
    assert not cluster.broker(1).roles[T0].is_new
    await report_isr(cluster, 1, 2, 3)
    assert await assignment(cluster) == moving
    await report_isr(cluster, 1, 2, 3, 4)
    assert await assignment(cluster) == ReplicaAssignment((3, 4))
    await cluster.wait_for_leader("t", 3)
    state = await cluster.state("t")
    assert state.isr == (3, 4)
    await cluster.wait(lambda: cluster.broker(1).deleted == cluster.broker(2).deleted == [T0])
    assert await cluster.active.controller.list_reassignments() == {}


async def test_a_topic_is_written_once_for_all_of_its_reassigned_partitions(cluster):
    """The node has all partitions, so a write for each would be quadratic."""
    await cluster.start(1, 2)
    await cluster.admin.create_topic("t", dict.fromkeys(range(5), (1,)))
    await cluster.wait_for_leader("t", 1, 4)
    before = await cluster.tree.exists(paths.topic("t"))
    targets = {TopicPartition("t", number): (1, 2) for number in range(5)}
    targets[TopicPartition("t", 9)] = (1, 2)
    codes = await cluster.active.controller.alter_reassignments(targets)
    assert [code for code in codes.values() if code is not NONE] == [
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    ]
    after = await cluster.tree.exists(paths.topic("t"))
    assert after.version == before.version + 1
    partitions = (await cluster.topic("t")).partitions
    assert all(partitions[number].adding == (2,) for number in range(5))


async def test_reassignment_keeps_a_leader_that_stays(cluster):
    await cluster.start(1, 2, 3)
    await topic_on(cluster, 1, 2)
    assert await reassign(cluster, (3, 1)) is NONE
    await report_isr(cluster, 1, 2, 3)
    await cluster.wait_for_leader("t", 1)
    assert await assignment(cluster) == ReplicaAssignment((3, 1))
    assert (await cluster.state("t")).isr == (1, 3)


async def test_new_order_of_the_same_brokers_is_done_at_once(cluster):
    await cluster.start(1, 2)
    await topic_on(cluster, 1, 2)
    assert await reassign(cluster, (2, 1)) is NONE
    assert await assignment(cluster) == ReplicaAssignment((2, 1))


async def test_cancelled_reassignment_goes_back(cluster):
    await cluster.start(1, 2, 3)
    await topic_on(cluster, 1, 2)
    await reassign(cluster, (3, 2))
    await cluster.wait(lambda: T0 in cluster.broker(3).roles)
    assert await reassign(cluster, None) is NONE
    # The brokers of before, in the order that the union left them in, as Kafka has it.
    assert await assignment(cluster) == ReplicaAssignment((2, 1))
    await cluster.wait(lambda: cluster.broker(3).deleted == [T0])
    assert await reassign(cluster, None) is ErrorCode.NO_REASSIGNMENT_IN_PROGRESS


async def test_replaced_reassignment_drops_what_the_first_one_added(cluster):
    await cluster.start(1, 2, 3, 4)
    await topic_on(cluster, 1, 2)
    await reassign(cluster, (3, 2))
    await report_isr(cluster, 1, 2)
    await reassign(cluster, (4, 2))
    assert await assignment(cluster) == ReplicaAssignment((4, 2, 1), (4,), (1,))
    await cluster.wait(lambda: cluster.broker(3).deleted == [T0])
    await report_isr(cluster, 1, 2, 4)
    assert await assignment(cluster) == ReplicaAssignment((4, 2))


@pytest.mark.parametrize("target", [(), (1, 1), (-1,), (1, 9)])
async def test_impossible_targets_are_rejected(cluster, target):
    await cluster.start(1, 2)
    await topic_on(cluster, 1, 2)
    assert await reassign(cluster, target) is ErrorCode.INVALID_REPLICA_ASSIGNMENT
    assert await assignment(cluster) == ReplicaAssignment((1, 2))


async def test_unknown_partition_cannot_be_moved(cluster):
    await cluster.start(1)
    assert await reassign(cluster, (1,)) is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


async def test_next_controller_finishes_a_reassignment(cluster):
    await cluster.start(1, 2, 3)
    await topic_on(cluster, 2)
    await reassign(cluster, (3,))
    await cluster.kill(1)
    await cluster.wait(lambda: cluster.active)
    assert list(await cluster.active.controller.list_reassignments()) == [T0]
    await report_isr(cluster, 2, 3)
    await cluster.wait_for_leader("t", 3)
    assert await assignment(cluster) == ReplicaAssignment((3,))


async def test_a_reassignment_request_in_the_tree(cluster):
    await cluster.start(1, 2)
    await topic_on(cluster, 1)
    node = ReassignPartitionsNode({T0: (2,)})
    await cluster.tree.create(paths.REASSIGN_PARTITIONS, node.encode())
    await cluster.wait(lambda: T0 in cluster.broker(2).roles)
    await report_isr(cluster, 1, 2)
    await cluster.wait_for_leader("t", 2)
    assert await cluster.tree.exists(paths.REASSIGN_PARTITIONS) is None


async def test_growth_during_a_reassignment_is_kept(cluster):
    await cluster.start(1, 2)
    await topic_on(cluster, 1)
    await asyncio.gather(reassign(cluster, (2,)), cluster.admin.add_partitions("t", {1: (1,)}))
    await cluster.wait_for_leader("t", 1, 1)
    assert sorted((await cluster.topic("t")).partitions) == [0, 1]


async def test_deletion_ends_a_reassignment(cluster):
    await cluster.start(1, 2)
    await topic_on(cluster, 1)
    await reassign(cluster, (2,))
    await cluster.admin.delete_topic("t")

    async def gone() -> bool:
        return await cluster.tree.exists(paths.topic("t")) is None

    await cluster.wait(gone)
    assert cluster.broker(1).deleted == cluster.broker(2).deleted == [T0]
    assert await cluster.active.controller.list_reassignments() == {}


async def elect(cluster, kind, *partitions):
    return await cluster.active.controller.elect_leaders(kind, partitions or None)


async def move_away(cluster):
    """Leader of t-0 is 2 although 1 is preferred and back in sync."""
    await cluster.start(3, 1, 2)
    await topic_on(cluster, 1, 2)
    await cluster.kill(1)
    await cluster.wait_for_leader("t", 2)
    await cluster.add(1)
    await cluster.wait(lambda: cluster.broker(2).live == {1, 2, 3})
    await report_isr(cluster, 2, 1)


async def test_preferred_election_by_request(cluster):
    await move_away(cluster)
    codes = await elect(cluster, ElectionKind.PREFERRED, T0, TopicPartition("no", 0))
    assert codes == {
        T0: NONE,
        TopicPartition("no", 0): ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
    }
    await cluster.wait_for_leader("t", 1)
    again = await elect(cluster, ElectionKind.PREFERRED, T0)
    assert again == {T0: ErrorCode.ELECTION_NOT_NEEDED}
    assert await elect(cluster, ElectionKind.PREFERRED) == {}


async def test_preferred_election_needs_the_preferred_replica_in_sync(cluster):
    await move_away(cluster)
    await report_isr(cluster, 2)
    codes = await elect(cluster, ElectionKind.PREFERRED, T0)
    assert codes == {T0: ErrorCode.PREFERRED_LEADER_NOT_AVAILABLE}


async def test_a_preferred_election_request_in_the_tree(cluster):
    """Passes when the leader changes and the node is removed before the timeout."""
    await move_away(cluster)
    node = PartitionListNode((T0,))
    await cluster.tree.create(paths.PREFERRED_REPLICA_ELECTION, node.encode())
    await cluster.wait_for_leader("t", 1)

    async def removed() -> bool:
        return await cluster.tree.exists(paths.PREFERRED_REPLICA_ELECTION) is None

    await cluster.wait(removed)


async def test_leaders_return_by_themselves():
    config = ControllerConfig(leader_imbalance_check_interval_s=0.01, retry_backoff_s=0.001)
    cluster = ControllerCluster(config)
    await move_away(cluster)
    await cluster.wait_for_leader("t", 1)
    await cluster.close()


async def test_unclean_election_by_request(cluster):
    await cluster.start(3, 1, 2)
    await topic_on(cluster, 1, 2)
    await report_isr(cluster, 1)
    assert await elect(cluster, ElectionKind.UNCLEAN, T0) == {T0: ErrorCode.ELECTION_NOT_NEEDED}
    await cluster.kill(1)
    await cluster.wait_for_leader("t", -1)
    assert await elect(cluster, ElectionKind.UNCLEAN, T0) == {T0: NONE}
    await cluster.wait_for_leader("t", 2)


async def test_an_unclean_election_is_counted(cluster):
    """The metric kafka_controller_controllerstats_uncleanleaderelections_total."""
    await cluster.start(3, 1, 2)
    await topic_on(cluster, 1, 2)
    await report_isr(cluster, 1)
    await cluster.kill(1)
    await cluster.wait_for_leader("t", -1)
    await elect(cluster, ElectionKind.UNCLEAN, T0)
    stats = cluster.active.controller.stats
    assert stats.unclean_elections == 1
    assert stats.elections.count >= 1
    assert stats.event_times["leader election"].count >= 1


async def test_replica_that_declines_to_lead_leads_when_an_operator_demands_it(cluster):
    await cluster.start(3, 1, 2)
    await topic_on(cluster, 1, 2)
    await cluster.kill(2)
    await cluster.wait(lambda: isr_is(cluster, (1,)))
    await cluster.kill(1)
    await cluster.wait_for_leader("t", -1)
    await cluster.add(1, failing_disk={T0})
    await cluster.wait(lambda: T0 in cluster.broker(1).metadata)
    await cluster.wait_for_leader("t", -1)
    assert await elect(cluster, ElectionKind.OFFLINE, T0) != {T0: NONE}
    cluster.broker(1).failing_disk.clear()
    assert await elect(cluster, ElectionKind.UNCLEAN, T0) == {T0: NONE}
    await cluster.wait_for_leader("t", 1)
    assert cluster.broker(1).roles[T0].recovering


async def isr_is(cluster, isr) -> bool:
    return (await cluster.state("t")).isr == isr


async def shut_down(cluster, broker_id):
    epoch = cluster.nodes[broker_id].registration.broker_epoch
    return await cluster.active.controller.controlled_shutdown(broker_id, epoch)


async def test_controlled_shutdown_moves_leaders_and_leaves_the_sets(cluster):
    await cluster.start(1, 2, 3)
    await topic_on(cluster, 2, 3)
    await cluster.admin.create_topic("followed", {0: (3, 2)})
    await cluster.admin.create_topic("alone", {0: (2,)})
    await cluster.wait_for_leader("followed", 3)
    await cluster.wait_for_leader("alone", 2)
    assert await shut_down(cluster, 2) == []
    await cluster.wait_for_leader("t", 3)
    assert (await cluster.state("t")).isr == (3,)
    assert (await cluster.state("followed")).isr == (3,)
    assert (await cluster.state("alone")).leader == 2
    await cluster.wait(lambda: T0 not in cluster.broker(2).roles)


async def test_controlled_shutdown_names_what_it_could_not_move(cluster):
    await cluster.start(1, 2)
    await topic_on(cluster, 2, 1)
    await report_isr(cluster, 2)
    assert await shut_down(cluster, 2) == [T0]


async def test_broker_that_shuts_down_is_not_let_back_into_a_set(cluster):
    await cluster.start(1, 2)
    await topic_on(cluster, 1, 2)
    await shut_down(cluster, 2)
    state, stat = await cluster.state("t"), await cluster.tree.exists(paths.partition_state(T0))
    change = AlterPartitionChange(T0, ZERO_UUID, state.leader_epoch, stat.version, (1, 2))
    epoch = cluster.nodes[1].registration.broker_epoch
    replies = await cluster.active.controller.alter_partition(1, epoch, [change])
    assert replies[T0].error is ErrorCode.INELIGIBLE_REPLICA


async def test_controlled_shutdown_of_an_old_incarnation_is_rejected(cluster):
    await cluster.start(1)
    for broker_id, code in ((1, "STALE_BROKER_EPOCH"), (9, "BROKER_NOT_AVAILABLE")):
        with pytest.raises(BrokerError) as caught:
            await cluster.active.controller.controlled_shutdown(broker_id, 7)
        assert caught.value.code.name == code
