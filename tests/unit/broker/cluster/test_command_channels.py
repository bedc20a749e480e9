"""Commands of the controller: a long one lets the loop serve others in between."""

import asyncio
import time
from types import SimpleNamespace

import pytest

from barnabas.broker.cluster.command_channels import CommandReceiver
from barnabas.model.control import (
    ControlReply,
    LeaderAndIsrCommand,
    PartitionState,
    StopReplicaCommand,
    StopReplicaPartition,
)
from barnabas.model.error_codes import ErrorCode
from barnabas.model.ids import BrokerId, TopicPartition


class SlowReplicas:
    """Needs some milliseconds for each partition, as for a new log."""

    def __init__(self):
        self.events = []
        self.controller_epoch = 1

    def partition(self, topic_partition):
        return object()

    def fence_command(self, controller_epoch, broker_epoch):
        stale = controller_epoch < self.controller_epoch
        return ErrorCode.STALE_CONTROLLER_EPOCH if stale else ErrorCode.NONE

    def apply_leader_and_isr(self, command):
        error = self.fence_command(command.controller_epoch, command.broker_epoch)
        if error is not ErrorCode.NONE:
            return ControlReply(error)
        for state in command.partitions:
            end = time.perf_counter() + 0.006
            while time.perf_counter() < end:
                pass
            self.events.append(state.topic_partition.partition)
        return ControlReply(
            partitions={state.topic_partition: ErrorCode.NONE for state in command.partitions}
        )

    stop_replicas = apply_leader_and_isr  # deletes the logs


@pytest.fixture
def replicas():
    return SlowReplicas()


@pytest.fixture
def receiver(replicas):
    book = SimpleNamespace(update=lambda brokers: None)
    return CommandReceiver(replicas, None, None, None, lambda gone: None, book)


def command(count, controller_epoch=1):
    states = tuple(
        PartitionState(TopicPartition("t", n), BrokerId(1), 0, (), ()) for n in range(count)
    )
    return LeaderAndIsrCommand(BrokerId(1), controller_epoch, 1, states)


def stop_command(count, controller_epoch=1):
    stops = tuple(StopReplicaPartition(TopicPartition("t", n), 0, True) for n in range(count))
    return StopReplicaCommand(BrokerId(1), controller_epoch, 1, stops)


@pytest.mark.parametrize("make", [command, stop_command])
async def test_other_work_runs_between_the_partitions(receiver, replicas, make):
    applying = asyncio.create_task(receiver.apply(make(3)))
    while not applying.done():
        await asyncio.sleep(0)
        replicas.events.append("other")
    reply = applying.result()
    assert [n for n in replicas.events if n != "other"] == [0, 1, 2]
    assert "other" in replicas.events[: replicas.events.index(2)]
    assert set(reply.partitions) == {TopicPartition("t", n) for n in range(3)}


@pytest.mark.parametrize("make", [command, stop_command])
async def test_a_newer_controller_in_between(receiver, replicas, make):
    applying = asyncio.create_task(receiver.apply(make(3)))
    while not replicas.events:
        await asyncio.sleep(0)
    replicas.controller_epoch = 2
    assert (await applying).error is ErrorCode.STALE_CONTROLLER_EPOCH
    assert replicas.events == [0]


async def test_an_older_controller_without_partitions(receiver):
    reply = await receiver.apply(command(0, controller_epoch=0))
    assert reply.error is ErrorCode.STALE_CONTROLLER_EPOCH
