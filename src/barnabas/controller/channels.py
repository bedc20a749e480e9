"""Sends controller commands to brokers: the transport port, and a queue per broker.

Commands to one broker are sent one after another. Each is retried until the broker responds,
leaves the cluster, or the controller epoch ends. A slow broker does not delay the others.
"""

import asyncio
import logging
from collections import deque
from collections.abc import Callable, Iterable
from typing import Protocol

from barnabas.model.control import (
    ControlReply,
    LeaderAndIsrCommand,
    StopReplicaCommand,
    UpdateMetadataCommand,
)
from barnabas.model.errors import BarnabasError
from barnabas.model.ids import BrokerId

_log = logging.getLogger(__name__)

Command = LeaderAndIsrCommand | UpdateMetadataCommand | StopReplicaCommand
ReplyListener = Callable[[BrokerId, Command, ControlReply], None]


class BrokerChannels(Protocol):
    """Transport of commands: a direct call for the local broker, a request for the others."""

    async def send(self, broker_id: BrokerId, command: Command) -> ControlReply:
        """Sends a command and returns the reply; BarnabasError or OSError requests a retry."""
        ...


class Outbox:
    """One queue and one sending task per live broker. Owned by the controller's loop."""

    def __init__(
        self, channels: BrokerChannels, on_reply: ReplyListener, *, backoff_s: float
    ) -> None:
        self._channels = channels
        self._on_reply = on_reply
        self._backoff_s = backoff_s
        self._queues: dict[BrokerId, deque[Command]] = {}
        self._senders: dict[BrokerId, asyncio.Task[None]] = {}
        self._open = asyncio.Event()
        self._open.set()

    def add_broker(self, broker_id: BrokerId) -> None:
        self._queues.setdefault(broker_id, deque())

    def remove_broker(self, broker_id: BrokerId) -> None:
        """Drops the commands of a broker that left; it gets full metadata when it returns."""
        self._queues.pop(broker_id, None)
        sender = self._senders.pop(broker_id, None)
        if sender is not None:
            sender.cancel()

    def send(self, broker_id: BrokerId, commands: Iterable[Command]) -> None:
        queue = self._queues.get(broker_id)
        if queue is None:
            return
        queue.extend(commands)
        if queue and broker_id not in self._senders:
            sender = asyncio.get_running_loop().create_task(self._drain(broker_id, queue))
            self._senders[broker_id] = sender

    @property
    def queued(self) -> int:
        """Number of commands that are not delivered yet."""
        return sum(len(queue) for queue in self._queues.values())

    def pause(self) -> None:
        """Stops sending: the session is suspended, so another controller may have been elected."""
        self._open.clear()

    def resume(self) -> None:
        self._open.set()

    def close(self) -> None:
        """Drops everything that has not been sent."""
        for broker_id in list(self._queues):
            self.remove_broker(broker_id)

    async def _drain(self, broker_id: BrokerId, queue: deque[Command]) -> None:
        while queue:
            command = queue[0]
            reply = await self._deliver(broker_id, command)
            queue.popleft()
            self._on_reply(broker_id, command, reply)
            # A command to the local broker may be applied without yielding to the loop.
            await asyncio.sleep(0)
        if self._queues.get(broker_id) is queue:
            self._senders.pop(broker_id, None)

    async def _deliver(self, broker_id: BrokerId, command: Command) -> ControlReply:
        backoff_s = self._backoff_s
        while True:
            await self._open.wait()
            try:
                return await self._channels.send(broker_id, command)
            except (BarnabasError, OSError) as error:
                name = type(command).__name__
                _log.warning("%s to broker %d failed, will retry: %s", name, broker_id, error)
            await asyncio.sleep(backoff_s)
            backoff_s = min(backoff_s * 2, 1.0)
