"""The controller as a whole, on the embedded tree with brokers that only listen."""

import asyncio

import pytest
from support.loop_turns import counted_turns

from barnabas.controller.active.context import ControllerContext
from barnabas.controller.active.epoch_state import CommandBatch
from barnabas.controller.active.fenced_tree import (
    ControllerMovedError,
    FencedTree,
    PartitionStates,
)
from barnabas.model.control import (
    AlterPartitionChange,
    LeaderAndIsrCommand,
    LeaderRecoveryState,
    UpdateMetadataCommand,
)
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BrokerError
from barnabas.model.ids import ZERO_UUID, TopicPartition
from barnabas.runtime import slices
from barnabas.zk import paths
from barnabas.zk.node_store import StagedTree
from barnabas.zk.tree import CreateOp, SetOp

T0 = TopicPartition("t", 0)


async def test_a_lone_broker_elects_itself_and_leads_new_topics(cluster):
    await cluster.start(1)
    node = cluster.nodes[1]
    assert node.controller.is_active
    assert node.controller.controller_id == 1
    assert node.controller.controller_epoch == 1
    topic_id = await cluster.admin.create_topic("t", {0: (1,), 1: (1,)}, {"retention.ms": "5"})
    await cluster.wait_for_leader("t", 1)
    broker = cluster.broker(1)
    role = broker.roles[T0]
    assert (role.leader, role.leader_epoch, role.isr, role.is_new) == (1, 0, (1,), True)
    assert role.topic_id == topic_id
    kinds = [type(command) for command in broker.commands[-2:]]
    assert kinds == [LeaderAndIsrCommand, UpdateMetadataCommand]
    assert broker.commands[-1].topic_ids == {"t": topic_id}


async def test_commands_carry_the_epochs_that_fence(cluster):
    await cluster.start(1)
    await cluster.admin.create_topic("t", {0: (1,)})
    await cluster.wait_for_leader("t", 1)
    command = cluster.broker(1).commands[-1]
    assert command.broker_epoch == cluster.nodes[1].registration.broker_epoch
    assert (command.controller_id, command.controller_epoch) == (1, 1)


async def test_many_topics_at_once(cluster):
    """Passes when every topic has its leader before the timeout."""
    await cluster.start(1)
    names = [f"t{n}" for n in range(40)]
    await asyncio.gather(*(cluster.admin.create_topic(n, {0: (1,)}) for n in names))
    for name in names:
        await cluster.wait_for_leader(name, 1)


async def test_the_loop_turns_while_a_large_topic_is_created(cluster, monkeypatch):
    await cluster.start(1)
    steps = (
        (ControllerContext, "move_partition"),
        (ControllerContext, "move_replica"),
        (CommandBatch, "leader_and_isr"),
        (PartitionStates, "_create_op"),
    )
    count = 100
    monkeypatch.setattr(slices, "SLICE_S", 0.0)  # a turn of the loop after each item
    with counted_turns() as turns:
        seen = [turns.of_calls(monkeypatch, owner, name) for owner, name in steps]
        await cluster.admin.create_topic("t", dict.fromkeys(range(count), (1,)))
        await cluster.wait_for_leader("t", 1)
    for calls in seen:
        assert calls.total() >= count
        assert max(calls.values()) <= 2  # one loop ends, the next begins


async def test_the_loop_turns_while_a_large_topic_is_deleted(cluster, monkeypatch):
    await cluster.start(1)
    count = 100
    await cluster.admin.create_topic("t", dict.fromkeys(range(count), (1,)))
    await cluster.wait_for_leader("t", 1)
    steps = (
        (CommandBatch, "update_metadata"),
        (CommandBatch, "stop_replica"),
        (StagedTree, "_apply"),
    )
    monkeypatch.setattr(slices, "SLICE_S", 0.0)  # a turn of the loop after each item
    with counted_turns() as turns:
        seen = [turns.of_calls(monkeypatch, owner, name) for owner, name in steps]
        await cluster.admin.delete_topic("t")
        await cluster.wait(lambda: gone(cluster, "t"))
    for calls in seen:
        assert calls.total() >= count
        assert max(calls.values()) <= 2  # one loop ends, the next begins


async def test_deleted_topic_leaves_nothing_and_its_name_is_free(cluster):
    await cluster.start(1)
    first = await cluster.admin.create_topic("t", {0: (1,), 1: (1,)}, {"a": "b"})
    await cluster.wait_for_leader("t", 1)
    await cluster.admin.delete_topic("t")
    await cluster.wait(lambda: gone(cluster, "t"))
    assert await cluster.tree.children(paths.DELETE_TOPICS) == []
    assert await cluster.tree.exists(paths.config("topics", "t")) is None
    broker = cluster.broker(1)
    assert broker.metadata == {}
    assert sorted(broker.deleted) == [T0, TopicPartition("t", 1)]
    second = await cluster.admin.create_topic("t", {0: (1,)})
    assert second != first
    await cluster.wait_for_leader("t", 1)
    assert broker.roles[T0].topic_id == second


async def gone(cluster, topic) -> bool:
    return await cluster.tree.exists(paths.topic(topic)) is None


async def test_added_partitions_get_leaders(cluster):
    await cluster.start(1)
    await cluster.admin.create_topic("t", {0: (1,)})
    await cluster.wait_for_leader("t", 1)
    await cluster.admin.add_partitions("t", {1: (1,), 2: (1,)})
    await cluster.wait_for_leader("t", 1, 2)
    assert len(await cluster.tree.children(paths.topic_partitions("t"))) == 3


async def test_deletion_marks_without_a_topic_are_removed(cluster):
    """Passes when the mark is removed before the timeout."""
    await cluster.start(1)
    await cluster.tree.create(paths.delete_topic("nothing"))

    async def removed() -> bool:
        return await cluster.tree.children(paths.DELETE_TOPICS) == []

    await cluster.wait(removed)


async def test_topic_without_an_id_gets_one(cluster):
    await cluster.start(1)
    old_format = b'{"version":1,"partitions":{"0":[1]}}'
    await cluster.tree.create(paths.topic("t"), old_format)
    await cluster.wait_for_leader("t", 1)
    assert (await cluster.topic("t")).topic_id != ZERO_UUID


async def test_only_one_of_several_brokers_is_controller(cluster):
    await cluster.start(1, 2, 3)
    assert cluster.active.broker_id == 1
    assert cluster.nodes[2].controller.controller_id == 1
    with pytest.raises(BrokerError) as caught:
        await cluster.nodes[2].controller.elect_leaders(None)
    assert caught.value.code is ErrorCode.NOT_CONTROLLER


async def test_death_of_a_leader_moves_leadership_and_shrinks_the_set(cluster):
    await cluster.start(1, 2, 3)
    await cluster.admin.create_topic("t", {0: (2, 3, 1)})
    await cluster.wait_for_leader("t", 2)
    await cluster.kill(2)
    await cluster.wait_for_leader("t", 3)
    state = await cluster.state("t")
    assert (state.isr, state.leader_epoch) == ((3, 1), 1)
    assert cluster.broker(1).live == {1, 3}


async def test_death_of_a_follower_shrinks_the_set_in_a_new_epoch(cluster):
    await cluster.start(1, 2)
    await cluster.admin.create_topic("t", {0: (1, 2)})
    await cluster.wait_for_leader("t", 1)
    await cluster.kill(2)

    async def shrunk() -> bool:
        return (await cluster.state("t")).isr == (1,)

    await cluster.wait(shrunk)
    assert (await cluster.state("t")).leader_epoch == 1


async def test_last_member_stays_in_the_set_and_leads_again_when_back(cluster):
    await cluster.start(1, 2)
    await cluster.admin.create_topic("t", {0: (2,)})
    await cluster.wait_for_leader("t", 2)
    await cluster.kill(2)
    await cluster.wait_for_leader("t", -1)
    assert (await cluster.state("t")).isr == (2,)
    await cluster.add(2)
    await cluster.wait_for_leader("t", 2)
    assert (await cluster.state("t")).leader_epoch == 2


async def test_out_of_sync_replica_leads_only_if_the_topic_allows_it(cluster):
    await cluster.start(1, 2, 3)
    for name, allowed in (("safe", "false"), ("unsafe", "true")):
        await cluster.admin.create_topic(
            name, {0: (2, 3)}, {"unclean.leader.election.enable": allowed}
        )
        await cluster.wait_for_leader(name, 2)
    await cluster.kill(3)
    for name in ("safe", "unsafe"):
        await cluster.wait(lambda name=name: isr_is(cluster, name, (2,)))
    await cluster.kill(2)
    await cluster.add(3)
    await cluster.wait_for_leader("unsafe", 3)
    state = await cluster.state("unsafe")
    assert state.isr == (3,)
    assert state.recovery is LeaderRecoveryState.RECOVERING
    assert (await cluster.state("safe")).leader == -1


async def isr_is(cluster, topic, isr) -> bool:
    return (await cluster.state(topic)).isr == isr


async def test_bounced_broker_counts_as_dead_and_new(cluster):
    await cluster.start(1, 2)
    await cluster.admin.create_topic("t", {0: (2, 1)})
    await cluster.wait_for_leader("t", 2)
    before = cluster.nodes[2].registration.broker_epoch
    await cluster.nodes[2].tree.expire()
    await cluster.wait_for_leader("t", 1)
    await cluster.wait(lambda: cluster.nodes[2].registration.broker_epoch > before)
    await cluster.wait(lambda: cluster.broker(1).live == {1, 2})
    assert (await cluster.state("t")).isr == (1,)


async def test_killed_controller_is_replaced_in_a_higher_epoch(cluster):
    await cluster.start(1, 2, 3)
    await cluster.admin.create_topic("t", {0: (1, 2, 3)})
    await cluster.wait_for_leader("t", 1)
    await cluster.kill(1)
    await cluster.wait(lambda: cluster.active)
    assert cluster.active.controller.controller_epoch == 2
    await cluster.wait_for_leader("t", 2)
    await cluster.admin.create_topic("u", {0: (3,)})
    await cluster.wait_for_leader("u", 3)


async def test_killed_controller_is_removed_from_the_sets_in_which_it_followed(cluster):
    """Passes when the ISR shrinks before the timeout."""
    await cluster.start(1, 2, 3)
    await cluster.admin.create_topic("t", {0: (2, 1)})
    await cluster.wait_for_leader("t", 2)
    await cluster.kill(1)

    async def shrunk() -> bool:
        return (await cluster.state("t")).isr == (2,)

    await cluster.wait(shrunk)
    told = TopicPartition("t", 0)
    await cluster.wait(lambda: cluster.broker(2).roles[told].isr == (2,))
    await cluster.wait(lambda: cluster.broker(3).metadata[told].isr == (2,))


async def test_fenced_controller_cannot_write(cluster):
    await cluster.start(1, 2)
    old = FencedTree(cluster.nodes[1].tree, (await epoch_version(cluster)))
    await old.multi([CreateOp("/before")])
    await cluster.nodes[1].tree.expire()
    await cluster.wait(lambda: cluster.nodes[2].controller.is_active)
    with pytest.raises(ControllerMovedError):
        await old.multi([CreateOp("/after")])
    assert await cluster.tree.exists("/after") is None


async def epoch_version(cluster) -> int:
    return (await cluster.tree.exists(paths.CONTROLLER_EPOCH)).version


async def test_controller_whose_epoch_was_passed_steps_down_at_its_next_write(cluster):
    await cluster.start(1)
    await cluster.tree.multi([SetOp(paths.CONTROLLER_EPOCH, b"41")])
    await cluster.admin.create_topic("t", {0: (1,)})
    # It ends its epoch, resigns, and is elected again in a later epoch.
    await cluster.wait_for_leader("t", 1)
    assert cluster.nodes[1].controller.controller_epoch == 42


async def test_lost_session_ends_the_epoch_and_registers_again(cluster):
    await cluster.start(1)
    await cluster.admin.create_topic("t", {0: (1,)})
    await cluster.wait_for_leader("t", 1)
    node = cluster.nodes[1]
    before = node.registration.broker_epoch
    await node.tree.expire(reconnect=False)
    await cluster.wait(lambda: not node.controller.is_active)
    node.tree.reconnect()
    await cluster.wait(lambda: node.controller.is_active)
    assert node.controller.controller_epoch == 2
    assert node.registration.broker_epoch > before
    await cluster.wait_for_leader("t", 1)


async def test_suspended_controller_does_nothing_until_it_is_connected_again(cluster):
    await cluster.start(1)
    node = cluster.nodes[1]
    node.tree.suspend()
    await cluster.admin.create_topic("t", {0: (1,)})
    await asyncio.sleep(0.03)  # time for what must not happen
    assert await cluster.state("t") is None
    node.tree.resume()
    await cluster.wait_for_leader("t", 1)
    assert node.controller.controller_epoch == 1


async def test_a_broker_that_does_not_respond_delays_no_other_broker(cluster):
    await cluster.start(1, 2)
    cluster.channels.cut.add(2)
    await cluster.admin.create_topic("t", {0: (1, 2)})
    await cluster.wait(lambda: T0 in cluster.broker(1).roles)
    assert T0 not in cluster.broker(2).roles
    cluster.channels.cut.clear()
    await cluster.wait(lambda: T0 in cluster.broker(2).roles)


async def test_deletion_waits_for_a_dead_broker(cluster):
    await cluster.start(1, 2)
    await cluster.admin.create_topic("t", {0: (1, 2)})
    await cluster.wait_for_leader("t", 1)
    await cluster.kill(2)
    await cluster.admin.delete_topic("t")
    await cluster.wait(lambda: T0 in cluster.broker(1).deleted)
    assert not await gone(cluster, "t")
    await cluster.add(2)
    await cluster.wait(lambda: gone(cluster, "t"))
    assert T0 in cluster.broker(2).deleted


async def test_deletion_goes_on_under_the_next_controller(cluster):
    await cluster.start(1, 2)
    cluster.broker(2).fail_deletes = True
    await cluster.admin.create_topic("t", {0: (2,)})
    await cluster.wait_for_leader("t", 2)
    await cluster.admin.delete_topic("t")
    await asyncio.sleep(0.02)  # time for what must not happen
    assert not await gone(cluster, "t")
    cluster.broker(2).fail_deletes = False
    await cluster.kill(1)
    await cluster.wait(lambda: gone(cluster, "t"))


async def test_topic_created_without_a_controller_is_found(cluster):
    """Passes when the topic has its leader before the timeout."""
    await cluster.start()
    await cluster.admin.create_topic("t", {0: (1,)})
    await cluster.add(1)
    await cluster.wait_for_leader("t", 1)


async def test_topic_whose_replicas_are_all_dead_waits_for_one(cluster):
    await cluster.start(1)
    await cluster.admin.create_topic("t", {0: (2, 3)})
    await asyncio.sleep(0.02)  # time for what must not happen
    assert await cluster.state("t") is None
    await cluster.add(3)
    await cluster.wait_for_leader("t", 3)
    assert (await cluster.state("t")).isr == (3,)


async def test_failed_disk_moves_the_leader_away_and_back_is_noticed(cluster):
    await cluster.start(1, 2)
    await cluster.admin.create_topic("t", {0: (2, 1)})
    await cluster.wait_for_leader("t", 2)
    cluster.broker(2).failing_disk.add(T0)
    event = b'{"version":1,"broker":2,"event":1}'
    await cluster.tree.create(paths.LOG_DIR_EVENT_PREFIX, event, sequential=True)
    await cluster.wait_for_leader("t", 1)
    assert cluster.broker(1).metadata[T0].offline_replicas == (2,)
    assert await cluster.tree.children(paths.LOG_DIR_EVENTS) == []


async def test_alter_partition_changes_the_set_and_tells_everybody(cluster):
    await cluster.start(1, 2)
    await cluster.admin.create_topic("t", {0: (1, 2)})
    await cluster.wait_for_leader("t", 1)
    reply = (await alter(cluster, new_isr=(1,)))[T0]
    assert (reply.error, reply.isr, reply.partition_epoch) == (ErrorCode.NONE, (1,), 1)
    await cluster.wait(lambda: cluster.broker(2).metadata[T0].isr == (1,))
    stale = (await alter(cluster, new_isr=(1, 2), partition_epoch=0))[T0]
    assert stale.error is ErrorCode.INVALID_UPDATE_VERSION
    again = (await alter(cluster, new_isr=(1,), partition_epoch=0))[T0]
    assert (again.error, again.partition_epoch) == (ErrorCode.NONE, 1)


async def alter(cluster, *, new_isr, partition_epoch=0, broker_epoch=None, leader_epoch=0):
    change = AlterPartitionChange(T0, ZERO_UUID, leader_epoch, partition_epoch, new_isr)
    epoch = broker_epoch or cluster.nodes[1].registration.broker_epoch
    return await cluster.active.controller.alter_partition(1, epoch, [change])


async def test_alter_partition_of_an_old_incarnation_is_rejected(cluster):
    await cluster.start(1)
    with pytest.raises(BrokerError) as caught:
        await alter(cluster, new_isr=(1,), broker_epoch=1)
    assert caught.value.code is ErrorCode.STALE_BROKER_EPOCH


async def test_conflicting_writer_of_a_state_is_survived(cluster):
    """Passes when the new leader is elected before the timeout."""
    await cluster.start(1, 2, 3)
    await cluster.admin.create_topic("t", {0: (2, 3)})
    await cluster.wait_for_leader("t", 2)
    path = paths.partition_state(T0)
    data, _ = await cluster.tree.get(path)
    await cluster.tree.set(path, data.replace(b"[2,3]", b"[3,2]"))
    await cluster.kill(2)
    await cluster.wait_for_leader("t", 3)


async def test_isr_notifications_of_older_leaders_are_read(cluster):
    await cluster.start(1, 2)
    await cluster.admin.create_topic("t", {0: (1, 2)})
    await cluster.wait_for_leader("t", 1)
    path = paths.partition_state(T0)
    data, _ = await cluster.tree.get(path)
    await cluster.tree.set(path, data.replace(b"[1,2]", b"[1]"))
    notice = b'{"version":1,"partitions":[{"topic":"t","partition":0}]}'
    await cluster.tree.create(paths.ISR_CHANGE_PREFIX, notice, sequential=True)
    await cluster.wait(lambda: cluster.broker(2).metadata[T0].isr == (1,))
    assert await cluster.tree.children(paths.ISR_CHANGES) == []


async def test_changed_address_reaches_all_brokers(cluster):
    """Passes when the other broker receives the new address before the timeout."""
    await cluster.start(1, 2)
    path = paths.broker(2)
    data, _ = await cluster.tree.get(path)
    await cluster.tree.set(path, data.replace(b"host-2", b"moved"))

    def told() -> bool:
        last = cluster.broker(1).commands[-1]
        return any(b.endpoints[0].host == "moved" for b in last.live_brokers)

    await cluster.wait(told)


async def test_requests_queued_when_the_epoch_ends_are_rejected(cluster):
    await cluster.start(1, 2)
    node = cluster.nodes[1]
    node.tree.suspend()
    await asyncio.sleep(0)
    request = asyncio.create_task(node.controller.list_reassignments())
    await asyncio.sleep(0.01)  # time for what must not happen
    assert not request.done()
    await node.tree.expire(reconnect=False)
    await cluster.wait(lambda: cluster.nodes[2].controller.is_active)
    node.tree.reconnect()
    with pytest.raises(BrokerError) as caught:
        await asyncio.wait_for(request, 5)
    assert caught.value.code is ErrorCode.NOT_CONTROLLER


async def test_a_broker_that_missed_a_deletion_gets_the_whole_state(cluster):
    await cluster.start(1, 2)
    await cluster.admin.create_topic("t", {0: (1,)})
    await cluster.wait_for_leader("t", 1)
    away = cluster.nodes[2].tree
    await away.expire(reconnect=False)
    await cluster.wait(lambda: cluster.broker(1).live == {1})
    await cluster.admin.delete_topic("t")
    await cluster.wait(lambda: gone(cluster, "t"))
    assert T0 in cluster.broker(2).metadata
    away.reconnect()
    await cluster.wait(lambda: T0 not in cluster.broker(2).metadata)


async def test_leader_that_restarted_unseen_gets_a_new_epoch(cluster):
    await cluster.start(1, 2, 3)
    await cluster.admin.create_topic("t", {0: (2, 3)})
    await cluster.admin.create_topic("lone", {0: (2,)})
    await cluster.wait_for_leader("t", 2)
    await cluster.wait_for_leader("lone", 2)
    before = await cluster.state("t")
    everyone = list(cluster.nodes)
    for broker_id in everyone:
        await cluster.nodes[broker_id].controller.stop()
    for broker_id in everyone:
        await cluster.kill(broker_id)
    await cluster.start(2, 3)
    await cluster.wait_for_leader("t", 2)
    after = await cluster.state("t")
    assert after.leader_epoch > before.leader_epoch
    assert (await cluster.state("lone")).leader_epoch == 0  # it can contradict nobody
