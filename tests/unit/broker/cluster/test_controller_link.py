"""ISR proposals: several in one request, one reply each, none while an outcome is unknown."""

import asyncio

import pytest

from barnabas.broker.cluster.controller_link import ControllerIsrChannel
from barnabas.model.control import AlterPartitionChange, AlterPartitionReply
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BrokerError, UnavailableError
from barnabas.model.ids import ZERO_UUID, TopicPartition

ACCEPTED = AlterPartitionReply(ErrorCode.NONE, 1, 5, (1, 2), 9)


class Controller:
    """Replaces the link: records requests and returns the responses of the test."""

    def __init__(self):
        self.asked = []
        self.failure = None
        self.gate = asyncio.Event()
        self.gate.set()

    async def alter_partition(self, broker_epoch, changes):
        self.asked.append((broker_epoch, [change.topic_partition.partition for change in changes]))
        await self.gate.wait()
        if self.failure is not None:
            raise self.failure
        return {change.topic_partition: ACCEPTED for change in changes}


class Channel:
    def __init__(self, *, may_act=True):
        self.controller = Controller()
        self.channel = ControllerIsrChannel(lambda: 42, lambda: may_act)
        self.replies = []

    def propose(self, number):
        change = AlterPartitionChange(TopicPartition("t", number), ZERO_UUID, 5, 8, (1, 2))
        self.channel.alter_partition(
            change, lambda reply: self.replies.append((number, reply.error))
        )

    async def settle(self):
        for _ in range(5):
            await asyncio.sleep(0)

    async def __aenter__(self):
        self.channel.start(self.controller)
        return self

    async def __aexit__(self, *_):
        await self.channel.stop()


async def test_concurrent_proposals_are_sent_in_one_request():
    async with Channel() as channel:
        channel.propose(0)
        channel.propose(1)
        await channel.settle()
        assert channel.controller.asked == [(42, [0, 1])]
        assert channel.replies == [(0, ErrorCode.NONE), (1, ErrorCode.NONE)]


async def test_one_request_is_under_way_at_a_time():
    async with Channel() as channel:
        channel.controller.gate.clear()
        channel.propose(0)
        await channel.settle()
        channel.propose(1)
        channel.propose(2)
        await channel.settle()
        assert channel.controller.asked == [(42, [0])]
        channel.controller.gate.set()
        await channel.settle()
        assert channel.controller.asked == [(42, [0]), (42, [1, 2])]


@pytest.mark.parametrize(
    ("failure", "code"),
    [
        (UnavailableError("gone"), ErrorCode.REQUEST_TIMED_OUT),
        (OSError("gone"), ErrorCode.REQUEST_TIMED_OUT),
        (BrokerError(ErrorCode.NOT_CONTROLLER), ErrorCode.NOT_CONTROLLER),
        (BrokerError(ErrorCode.STALE_BROKER_EPOCH), ErrorCode.STALE_BROKER_EPOCH),
    ],
)
async def test_a_failure_reaches_every_proposal(failure, code):
    async with Channel() as channel:
        channel.controller.failure = failure
        channel.propose(0)
        channel.propose(1)
        await channel.settle()
        assert channel.replies == [(0, code), (1, code)]


async def test_nothing_is_proposed_while_the_session_is_in_doubt():
    async with Channel(may_act=False) as channel:
        channel.propose(0)
        await channel.settle()
        assert channel.controller.asked == []
        assert channel.replies == [(0, ErrorCode.REQUEST_TIMED_OUT)]


async def test_a_superseded_proposal_gets_a_reply():
    async with Channel() as channel:
        channel.propose(0)
        channel.propose(0)
        await channel.settle()
        assert channel.replies == [
            (0, ErrorCode.OPERATION_NOT_ATTEMPTED),
            (0, ErrorCode.NONE),
        ]
