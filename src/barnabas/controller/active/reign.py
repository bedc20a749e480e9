"""What one elected controller holds while it reigns, and throws away when it does not.

The parts of the controller (`leaderships`, `broker_changes`, …) all work on one `Reign`: they
change its context, write through its fenced tree and collect commands in its batch. `flush` sends
them.
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
    """Where watches and replies put work for the controller's loop."""

    def put(self, key: str, run: Callable[[], Awaitable[None]]) -> None:
        """Queue `run`; nothing is added while work of the same key waits."""
        ...


@dataclass(frozen=True, slots=True)
class Mandate:
    """A won election: who, the epoch, and the version of /controller_epoch that fences it."""

    broker_id: BrokerId
    epoch: int
    epoch_version: int


class Reign:
    """Owned by the controller's loop; valid until `end`."""

    def __init__(
        self,
        mandate: Mandate,
        tree: MetadataTree,
        channels: BrokerChannels,
        config: ControllerConfig,
        events: EventSink,
    ) -> None:
        self.mandate = mandate
        self.tree = tree
        self.config = config
        self.fenced = FencedTree(tree, mandate.epoch_version)
        self.states = PartitionStates(tree, self.fenced, mandate.epoch)
        self._channels = channels
        self._events = events
        self._ended = False
        self._reply_listener: ReplyListener = lambda broker, command, reply: None
        self.outbox = self._new_outbox()
        self.context = ControllerContext(mandate.epoch)
        self.batch = CommandBatch(self.context, mandate.broker_id)

    def start_over(self) -> None:
        """Forget the picture, to load it again after a write with an unknown outcome."""
        self.outbox.close()
        self.outbox = self._new_outbox()
        self.context = ControllerContext(self.mandate.epoch)
        self.batch = CommandBatch(self.context, self.mandate.broker_id)

    def end(self) -> None:
        self._ended = True
        self.outbox.close()

    def listen_to_replies(self, listener: ReplyListener) -> None:
        self._reply_listener = listener

    def submit(self, key: str, run: Callable[[], Awaitable[None]]) -> None:
        """Queue work of this reign; it is dropped if the reign is over by its turn."""

        async def unless_ended() -> None:
            if not self._ended:
                await run()

        if not self._ended:
            # Work of an earlier reign may still wait under the same key; it will do nothing.
            self._events.put(f"{key} in {self.mandate.epoch}", unless_ended)

    def watch(self, key: str, run: Callable[[], Awaitable[None]]) -> Watch:
        """A watch that queues `run`."""

        def fired(event: WatchEvent) -> None:
            self.submit(key, run)

        return fired

    def flush(self) -> None:
        """Send what the batch has collected."""
        commands = self.batch.build()
        self.batch = CommandBatch(self.context, self.mandate.broker_id)
        for broker_id, for_broker in commands.items():
            self.outbox.send(broker_id, for_broker)

    def _new_outbox(self) -> Outbox:
        return Outbox(
            self._channels,
            lambda broker, command, reply: self._reply_listener(broker, command, reply),
            backoff_s=self.config.retry_backoff_s,
        )
