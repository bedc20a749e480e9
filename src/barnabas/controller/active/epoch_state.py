"""State and services of one controller epoch, shared by all parts of the active controller.

The parts (`leaderships`, `broker_changes`, …) change its context, write through its fenced tree
and add commands to its batch. `flush` sends the batch.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Protocol

from barnabas.controller.active.command_batch import CommandBatch
from barnabas.controller.active.context import ControllerContext
from barnabas.controller.active.fenced_tree import FencedTree
from barnabas.controller.active.partition_states import PartitionStates
from barnabas.controller.channels import BrokerChannels, Outbox, ReplyListener
from barnabas.controller.config import ControllerConfig
from barnabas.model.ids import BrokerId
from barnabas.zk.tree import MetadataTree, Watch, WatchEvent


class EventSink(Protocol):
    """Accepts work for the controller's event loop from watches and replies."""

    def put(self, key: str, run: Callable[[], Awaitable[None]]) -> None:
        """Queue `run` unless work with the same key is already queued."""
        ...


@dataclass(frozen=True, slots=True)
class ControllerEpoch:
    """A won election: broker, epoch, and the version of /controller_epoch that fences writes."""

    broker_id: BrokerId
    epoch: int
    epoch_version: int


class ControllerEpochState:
    """Owned by the controller's event loop; valid until `end` is called."""

    def __init__(
        self,
        controller_epoch: ControllerEpoch,
        tree: MetadataTree,
        channels: BrokerChannels,
        config: ControllerConfig,
        events: EventSink,
    ) -> None:
        self.controller_epoch = controller_epoch
        self.tree = tree
        self.config = config
        self.fenced = FencedTree(tree, controller_epoch.epoch_version)
        self.states = PartitionStates(tree, self.fenced, controller_epoch.epoch)
        self._channels = channels
        self._events = events
        self._ended = False
        self._reply_listener: ReplyListener = lambda broker, command, reply: None
        self.outbox = self._new_outbox()
        self.context = ControllerContext(controller_epoch.epoch)
        self.batch = CommandBatch(self.context, controller_epoch.broker_id)

    def start_over(self) -> None:
        """Reset the context so that it can be reloaded after a write with an unknown outcome."""
        self.outbox.close()
        self.outbox = self._new_outbox()
        self.context = ControllerContext(self.controller_epoch.epoch)
        self.batch = CommandBatch(self.context, self.controller_epoch.broker_id)

    def end(self) -> None:
        self._ended = True
        self.outbox.close()

    def listen_to_replies(self, listener: ReplyListener) -> None:
        self._reply_listener = listener

    def submit(self, key: str, run: Callable[[], Awaitable[None]]) -> None:
        """Queue work of this epoch; the work is dropped if the epoch has ended before it runs."""

        async def unless_ended() -> None:
            if not self._ended:
                await run()

        if not self._ended:
            # The key contains the epoch: queued work of an earlier epoch must not suppress this.
            self._events.put(f"{key} in {self.controller_epoch.epoch}", unless_ended)

    def watch(self, key: str, run: Callable[[], Awaitable[None]]) -> Watch:
        """Returns a watch callback that queues `run`."""

        def fired(event: WatchEvent) -> None:
            self.submit(key, run)

        return fired

    def flush(self) -> None:
        """Send the collected commands."""
        commands = self.batch.build()
        self.batch = CommandBatch(self.context, self.controller_epoch.broker_id)
        for broker_id, for_broker in commands.items():
            self.outbox.send(broker_id, for_broker)

    def _new_outbox(self) -> Outbox:
        return Outbox(
            self._channels,
            lambda broker, command, reply: self._reply_listener(broker, command, reply),
            backoff_s=self.config.retry_backoff_s,
        )
