"""The controller that every broker runs: it stands for election, reigns, and steps down.

One task processes one event at a time (`event_queue`). While another broker reigns, the only
events are looks at /controller. After an election the work is `active_controller`'s.

Session states: SUSPENDED stops everything where it is, since another controller may already have
been elected; LOST ends the reign at once, and with the next session the broker registers again
and stands for election again.
"""

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from typing import Protocol, TypeVar

from barnabas.controller.active.active_controller import ActiveController
from barnabas.controller.active.fenced_tree import ControllerMovedError
from barnabas.controller.active.reign import Mandate, Reign
from barnabas.controller.channels import BrokerChannels
from barnabas.controller.config import ControllerConfig
from barnabas.controller.election import Incumbent, leave_office, stand_for_election
from barnabas.controller.event_queue import EventQueue
from barnabas.controller.machines.election import ElectionKind
from barnabas.model.clock import Clock
from barnabas.model.control import AlterPartitionChange, AlterPartitionReply
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BrokerError
from barnabas.model.ids import NO_BROKER, BrokerId, TopicPartition
from barnabas.model.replica_assignment import ReplicaAssignment, Replicas
from barnabas.zk.tree import (
    ConnectionLossError,
    MetadataTree,
    SessionLostError,
    SessionState,
    WatchEvent,
)

_log = logging.getLogger(__name__)
_Result = TypeVar("_Result")


class Registration(Protocol):
    """Puts this broker's registration into the tree."""

    async def register(self) -> int: ...


class Controller:
    """One per broker. All calls on the loop that called `start`."""

    def __init__(
        self,
        tree: MetadataTree,
        broker_id: BrokerId,
        channels: BrokerChannels,
        clock: Clock,
        config: ControllerConfig | None = None,
        registration: Registration | None = None,
    ) -> None:
        self._tree = tree
        self._broker_id = broker_id
        self._channels = channels
        self._clock = clock
        self._config = config or ControllerConfig()
        self._registration = registration
        self._events = EventQueue(self._on_error)
        self._incumbent = Incumbent(NO_BROKER, 0)
        self._reign: Reign | None = None
        self._active: ActiveController | None = None
        self._session_was_lost = False
        self._tasks: list[asyncio.Task[None]] = []

    @property
    def is_active(self) -> bool:
        """Whether this broker is the controller and has finished taking over."""
        return self._active is not None

    @property
    def controller_id(self) -> BrokerId:
        """The broker that was the controller when last looked, or NO_BROKER."""
        return self._incumbent.broker_id

    @property
    def controller_epoch(self) -> int:
        """The epoch of this broker's reign, or the last one seen."""
        return self._reign.mandate.epoch if self._reign else self._incumbent.epoch

    async def start(self) -> None:
        """Stand for election once, and from now on whenever there is no controller."""
        self._tree.add_session_listener(self._on_session)
        loop = asyncio.get_running_loop()
        self._tasks.append(loop.create_task(self._events.run()))
        if self._config.auto_leader_rebalance_enable:
            self._tasks.append(loop.create_task(self._rebalance_from_time_to_time()))
        await self._events.call(self._look)

    async def stop(self) -> None:
        """Stop without giving up the session: closing that lets the next controller in."""
        for task in self._tasks:
            task.cancel()
        for task in self._tasks:
            with contextlib.suppress(asyncio.CancelledError):
                await task
        self._tasks.clear()
        self._step_down()

    # Election

    async def _look(self) -> None:
        """See who reigns; stand for election when nobody does."""
        await self._register_again()
        outcome = await stand_for_election(
            self._tree, self._broker_id, self._clock.now_ms(), self._on_controller_node
        )
        if isinstance(outcome, Mandate):
            await self._take_over(outcome)
            return
        self._incumbent = outcome
        if outcome.session_id != self._tree.session_id:
            self._step_down()
        elif self._reign is None:
            # Our election succeeded without our knowing. The epoch that was current then is not
            # known for certain, so the office is left and taken again.
            await leave_office(self._tree)

    async def _register_again(self) -> None:
        """A new session has no registration; without one a broker must not be elected."""
        if self._session_was_lost and self._registration is not None:
            await self._registration.register()
        self._session_was_lost = False

    async def _take_over(self, mandate: Mandate) -> None:
        self._step_down()
        _log.info("broker %d is the controller, epoch %d", mandate.broker_id, mandate.epoch)
        self._incumbent = Incumbent(mandate.broker_id, mandate.epoch, self._tree.session_id)
        self._reign = Reign(mandate, self._tree, self._channels, self._config, self._events)
        await self._begin(self._reign)

    async def _begin(self, reign: Reign) -> None:
        active = ActiveController(reign)
        await active.begin()
        if self._reign is reign:
            self._active = active

    def _step_down(self) -> None:
        if self._reign is not None:
            _log.info("broker %d is no longer the controller", self._broker_id)
            self._reign.end()
        self._reign = self._active = None

    def _on_controller_node(self, event: WatchEvent) -> None:
        self._events.put("controller", self._look)

    # Sessions and failures

    def _on_session(self, state: SessionState) -> None:
        if state is SessionState.SUSPENDED:
            self._events.pause()
            if self._reign is not None:
                self._reign.outbox.pause()
        elif state is SessionState.CONNECTED:
            self._on_connected()
        else:
            self._session_was_lost = True
            self._incumbent = Incumbent(NO_BROKER, self._incumbent.epoch)
            self._step_down()

    def _on_connected(self) -> None:
        if self._session_was_lost:
            self._events.put("controller", self._look)
        if self._reign is not None:
            self._reign.outbox.resume()
        self._events.resume()

    def _on_error(self, error: Exception) -> None:
        match error:
            case BrokerError():
                _log.debug("a request was refused: %s", error)
            case ControllerMovedError():
                _log.warning("broker %d: %s", self._broker_id, error)
                self._step_down()
                self._events.put("controller", self._look)
            case SessionLostError():
                _log.info("broker %d: %s", self._broker_id, error)
                self._step_down()
            case ConnectionLossError():
                # Whether the write happened is unknown, so the picture may be wrong: read again.
                _log.warning("broker %d starts over: %s", self._broker_id, error)
                self._events.put_first(self._start_over)
            case _:
                _log.error("broker %d starts over", self._broker_id, exc_info=error)
                self._events.put_first(self._start_over)

    async def _start_over(self) -> None:
        await asyncio.sleep(self._config.retry_backoff_s)
        reign = self._reign
        if reign is None:
            await self._look()
            return
        self._active = None
        reign.start_over()
        await self._begin(reign)

    # Requests: NOT_CONTROLLER when this broker is not the controller

    async def alter_partition(
        self, broker_id: BrokerId, broker_epoch: int, changes: Sequence[AlterPartitionChange]
    ) -> dict[TopicPartition, AlterPartitionReply]:
        """In-sync sets that a leader proposes."""
        return await self._request(lambda c: c.isr.alter(broker_id, broker_epoch, changes))

    async def controlled_shutdown(
        self, broker_id: BrokerId, broker_epoch: int
    ) -> list[TopicPartition]:
        """Move leaders off a broker; returns those it still leads."""
        return await self._request(lambda c: c.shutdown.shut_down(broker_id, broker_epoch))

    async def elect_leaders(
        self, kind: ElectionKind, partitions: Collection[TopicPartition] | None = None
    ) -> dict[TopicPartition, ErrorCode]:
        """Preferred or unclean elections; None means all partitions that need one."""
        return await self._request(lambda c: c.preferred.elect(kind, partitions))

    async def alter_reassignments(
        self, targets: Mapping[TopicPartition, Replicas | None]
    ) -> dict[TopicPartition, ErrorCode]:
        """Start moves of partitions, or cancel them with None."""
        return await self._request(lambda c: c.reassignments.alter(targets))

    async def list_reassignments(
        self, partitions: Collection[TopicPartition] | None = None
    ) -> dict[TopicPartition, ReplicaAssignment]:
        """The moves under way."""

        async def ask(active: ActiveController) -> dict[TopicPartition, ReplicaAssignment]:
            return active.reassignments.under_way(partitions)

        return await self._request(ask)

    async def _request(self, ask: Callable[[ActiveController], Awaitable[_Result]]) -> _Result:
        async def run() -> _Result:
            if self._active is None:
                raise BrokerError(ErrorCode.NOT_CONTROLLER)
            try:
                return await ask(self._active)
            except ControllerMovedError as error:
                raise BrokerError(ErrorCode.NOT_CONTROLLER) from error

        if self._active is None:
            raise BrokerError(ErrorCode.NOT_CONTROLLER)
        return await self._events.call(run)

    async def _rebalance_from_time_to_time(self) -> None:
        while True:
            await asyncio.sleep(self._config.leader_imbalance_check_interval_s)
            self._events.put("leader balance", self._rebalance_leaders)

    async def _rebalance_leaders(self) -> None:
        if self._active is not None:
            await self._active.preferred.rebalance()
