"""Sends the ISR changes that leaders propose to the controller, many in one request.

One request is in flight at a time; later proposals are part of the next request. If the outcome of
a proposal is unknown, its partition gets REQUEST_TIMED_OUT and proposes again later.
"""

import asyncio
import logging
from collections.abc import Callable
from contextlib import suppress
from typing import NamedTuple

from barnabas.broker.cluster.controller_link import ControllerLink
from barnabas.model.control import AlterPartitionChange, AlterPartitionReply
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BarnabasError, BrokerError
from barnabas.model.ids import TopicPartition

_logger = logging.getLogger("barnabas.broker")

_UNKNOWN_OUTCOME = AlterPartitionReply(ErrorCode.REQUEST_TIMED_OUT)


class _Proposal(NamedTuple):
    change: AlterPartitionChange
    on_reply: Callable[[AlterPartitionReply], None]


class ControllerIsrChannel:
    """An `IsrChannel`; owned by the broker's loop.

    `may_act` is false while the ZooKeeper session may have expired: then nothing is proposed.
    """

    def __init__(self, broker_epoch: Callable[[], int], may_act: Callable[[], bool]) -> None:
        self._broker_epoch = broker_epoch
        self._may_act = may_act
        self._waiting: dict[TopicPartition, _Proposal] = {}
        self._proposed = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    def start(self, controller: ControllerLink) -> None:
        self._task = asyncio.get_running_loop().create_task(
            self._run(controller), name="alter-partition"
        )

    async def stop(self) -> None:
        if self._task is not None:
            self._task.cancel()
            with suppress(asyncio.CancelledError):
                await self._task

    def alter_partition(
        self, change: AlterPartitionChange, on_reply: Callable[[AlterPartitionReply], None]
    ) -> None:
        overtaken = self._waiting.pop(change.topic_partition, None)
        self._waiting[change.topic_partition] = _Proposal(change, on_reply)
        self._proposed.set()
        if overtaken is not None:
            overtaken.on_reply(AlterPartitionReply(ErrorCode.OPERATION_NOT_ATTEMPTED))

    async def _run(self, controller: ControllerLink) -> None:
        while True:
            await self._proposed.wait()
            self._proposed.clear()
            batch, self._waiting = self._waiting, {}
            replies = await self._ask(controller, list(batch.values()))
            for place, proposal in batch.items():
                proposal.on_reply(replies.get(place, _UNKNOWN_OUTCOME))

    async def _ask(
        self, controller: ControllerLink, batch: list[_Proposal]
    ) -> dict[TopicPartition, AlterPartitionReply]:
        if not self._may_act():
            return {}
        changes = [proposal.change for proposal in batch]
        try:
            return await controller.alter_partition(self._broker_epoch(), changes)
        except BrokerError as error:
            _logger.info("the controller rejected ISR changes: %s", error)
            return {c.topic_partition: AlterPartitionReply(error.code) for c in changes}
        except (BarnabasError, OSError) as error:
            _logger.info("no response from the controller to ISR changes: %s", error)
            return {}
