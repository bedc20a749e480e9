"""Sends the controller's commands: to this broker by a call, to other brokers by requests."""

from barnabas.broker.cluster.control_requests import (
    leader_and_isr_reply,
    leader_and_isr_request,
    stop_replica_reply,
    stop_replica_request,
    update_metadata_reply,
    update_metadata_request,
)
from barnabas.broker.cluster.links import BrokerLink, BrokerLinks
from barnabas.broker.commands import CommandReceiver
from barnabas.controller.channels import Command
from barnabas.model.control import (
    ControlReply,
    LeaderAndIsrCommand,
    StopReplicaCommand,
    UpdateMetadataCommand,
)
from barnabas.model.ids import BrokerId


class ClusterChannels:
    """The controller's `BrokerChannels`; owned by the broker's loop.

    The controller's outbox keeps the order and retries: it sends one command at a time to a broker.
    """

    def __init__(self, broker_id: BrokerId, receiver: CommandReceiver, links: BrokerLinks) -> None:
        self._broker_id = broker_id
        self._receiver = receiver
        self._links = links

    async def send(self, broker_id: BrokerId, command: Command) -> ControlReply:
        if not isinstance(command, StopReplicaCommand):
            # A newly elected controller has the addresses only from the metadata tree.
            self._links.book.learn(command.live_brokers)
        if broker_id == self._broker_id:
            return await self._receiver.apply(command)
        return await self._send(self._links.to(broker_id), command)

    async def _send(self, link: BrokerLink, command: Command) -> ControlReply:
        match command:
            case LeaderAndIsrCommand():
                request = leader_and_isr_request(command, self._links.book.listener)
                return leader_and_isr_reply(await link.request(request), command)
            case UpdateMetadataCommand():
                return update_metadata_reply(await link.request(update_metadata_request(command)))
            case StopReplicaCommand():
                return stop_replica_reply(await link.request(stop_replica_request(command)))
