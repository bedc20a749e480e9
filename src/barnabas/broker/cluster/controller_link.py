"""Requests of this broker to the controller.

`ControllerLink` calls a controller in this broker directly, and sends a request to any other.
`ControllerIsrChannel` sends the ISR changes that leaders propose, many in one request: one request
is in flight at a time, and later proposals are part of the next one. `BrokerShutdown` makes
other brokers leaders before this broker stops.
"""

import asyncio
import logging
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import NamedTuple

from barnabas.broker.cluster.links import BrokerLinks
from barnabas.broker.config import BrokerConfig
from barnabas.broker.metadata_cache import MetadataCache
from barnabas.controller.controller import Controller
from barnabas.model.control import AlterPartitionChange, AlterPartitionReply, LeaderRecoveryState
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BarnabasError, BrokerError
from barnabas.model.ids import BrokerId, TopicPartition, Uuid
from barnabas.replication.replica_manager import ReplicaManager
from barnabas.wire.messages import alter_partition as wire
from barnabas.wire.messages.controlled_shutdown import (
    ControlledShutdownRequest,
    ControlledShutdownResponse,
)

Replies = dict[TopicPartition, AlterPartitionReply]
_logger = logging.getLogger("barnabas.broker")
_UNKNOWN_OUTCOME = AlterPartitionReply(ErrorCode.REQUEST_TIMED_OUT)
_RESPONSE_TIMEOUT_S = 10.0
# Longest wait, at a controlled shutdown, for the commands that hand over the leaderships.
_HANDOVER_S = 2.0
_POLL_S = 0.02


class ControllerLink:
    """Sends requests of this broker to the active controller.

    Owned by the broker's loop. Methods raise BarnabasError when the outcome is unknown.
    """

    def __init__(
        self,
        broker_id: BrokerId,
        controller: Controller,
        metadata: MetadataCache,
        links: BrokerLinks,
    ) -> None:
        self._broker_id = broker_id
        self._controller = controller
        self._metadata = metadata
        self._links = links

    async def alter_partition(
        self, broker_epoch: int, changes: Sequence[AlterPartitionChange]
    ) -> Replies:
        controller_id = self._find()
        if controller_id == self._broker_id:
            return await self._controller.alter_partition(self._broker_id, broker_epoch, changes)
        request = wire.AlterPartitionRequest(
            self._broker_id, broker_epoch, [_topic(change) for change in changes]
        )
        response: wire.AlterPartitionResponse = await self._links.to(controller_id).request(request)
        if response.error_code:
            raise BrokerError(ErrorCode.of(response.error_code))
        names = {change.topic_id: change.topic_partition.topic for change in changes}
        return _replies(response, names)

    async def controlled_shutdown(self, broker_epoch: int) -> list[TopicPartition]:
        """Moves leadership to other brokers; returns those that this broker still leads."""
        controller_id = self._find()
        if controller_id == self._broker_id:
            return await self._controller.controlled_shutdown(self._broker_id, broker_epoch)
        request = ControlledShutdownRequest(self._broker_id, broker_epoch)
        response: ControlledShutdownResponse = await self._links.to(controller_id).request(request)
        if response.error_code:
            raise BrokerError(ErrorCode.of(response.error_code))
        return [
            TopicPartition(item.topic_name, item.partition_index)
            for item in response.remaining_partitions
        ]

    def _find(self) -> BrokerId:
        # The metadata tree names a new controller before its first command arrives.
        for candidate in (self._controller.controller_id, self._metadata.controller_id):
            if candidate >= 0:
                return candidate
        raise BrokerError(ErrorCode.NOT_CONTROLLER, "no controller is elected")


def _topic(change: AlterPartitionChange) -> wire.TopicData:
    epochs = change.broker_epochs or (-1,) * len(change.new_isr)
    members = zip(change.new_isr, epochs, strict=True)
    return wire.TopicData(
        change.topic_partition.topic,
        change.topic_id,
        [
            wire.PartitionData(
                change.topic_partition.partition,
                change.leader_epoch,
                list(change.new_isr),
                [wire.BrokerState(member, epoch) for member, epoch in members],
                change.recovery,
                change.partition_epoch,
            )
        ],
    )


def _replies(response: wire.AlterPartitionResponse, names: dict[Uuid, str]) -> Replies:
    return {
        TopicPartition(names[topic.topic_id], item.partition_index): AlterPartitionReply(
            ErrorCode.of(item.error_code),
            BrokerId(item.leader_id),
            item.leader_epoch,
            tuple(BrokerId(member) for member in item.isr),
            item.partition_epoch,
            LeaderRecoveryState(1 if item.leader_recovery_state else 0),
        )
        for topic in response.topics
        if topic.topic_id in names
        for item in topic.partitions
    }


class _Proposal(NamedTuple):
    change: AlterPartitionChange
    on_reply: Callable[[AlterPartitionReply], None]


class ControllerIsrChannel:
    """An `IsrChannel`; owned by the broker's loop.

    `may_act` is false while the ZooKeeper session may have expired: then nothing is proposed.

    If the outcome of a proposal is unknown, its partition gets REQUEST_TIMED_OUT and proposes again
    later.
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
            # After the replacement is stored: the reply may make the partition propose again at
            # once.
            overtaken.on_reply(AlterPartitionReply(ErrorCode.OPERATION_NOT_ATTEMPTED))

    async def _run(self, controller: ControllerLink) -> None:
        while True:
            await self._proposed.wait()
            self._proposed.clear()
            # One request in flight: proposals that arrive meanwhile are sent together in the next
            # one, as in Kafka (KIP-497).
            batch, self._waiting = self._waiting, {}
            replies = await self._send(controller, list(batch.values()))
            for topic_partition, proposal in batch.items():
                proposal.on_reply(replies.get(topic_partition, _UNKNOWN_OUTCOME))

    async def _send(
        self, controller: ControllerLink, batch: list[_Proposal]
    ) -> dict[TopicPartition, AlterPartitionReply]:
        # A broker whose session has expired may be out of all ISRs already and must not propose a
        # new one.
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


class BrokerShutdown:
    """Runs a controlled shutdown once, on the broker's loop."""

    def __init__(
        self,
        config: BrokerConfig,
        controller: ControllerLink,
        replicas: ReplicaManager,
        metadata: MetadataCache,
        broker_epoch: Callable[[], int],
    ) -> None:
        self._config = config
        self._controller = controller
        self._replicas = replicas
        self._metadata = metadata
        self._broker_epoch = broker_epoch

    async def leave(self) -> None:
        """Moves leadership away; gives up after the configured number of attempts."""
        if not self._config["controlled.shutdown.enable"] or self._is_alone():
            return
        backoff_s = self._config["controlled.shutdown.retry.backoff.ms"] / 1000
        for attempt in range(self._config["controlled.shutdown.max.retries"]):
            if attempt:
                await asyncio.sleep(backoff_s)
            if await self._try_leave():
                await self._wait_for_handover()
                return
        _logger.warning("controlled shutdown incomplete: this broker still leads partitions")

    async def _try_leave(self) -> bool:
        try:
            # A controller without ZooKeeper sends no response.
            async with asyncio.timeout(_RESPONSE_TIMEOUT_S):
                remaining = await self._controller.controlled_shutdown(self._broker_epoch())
        except (BarnabasError, OSError) as error:
            _logger.info("controlled shutdown failed: %s", error)
            return False
        return not remaining

    async def _wait_for_handover(self) -> None:
        """Waits until the controller's commands arrived, so that clients get the new leaders."""
        for _ in range(int(_HANDOVER_S / _POLL_S)):
            if not any(len(led.replicas) > 1 for led in self._replicas.leader_partitions()):
                return
            await asyncio.sleep(_POLL_S)

    def _is_alone(self) -> bool:
        return len(list(self._metadata.brokers())) < 2
