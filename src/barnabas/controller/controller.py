"""Runs controller elections for one broker, and starts and stops the active controller.

One task processes one event at a time (`event_queue`). While another broker is the controller, the
only events are checks of /controller. After a won election `active_controller` does the work.

Session states: SUSPENDED pauses all events, because another controller may already have been
elected. LOST ends the controller epoch at once; in the next session the broker registers again and
takes part in the election again.
"""

import asyncio
import contextlib
import logging
from collections import deque
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from time import perf_counter_ns
from typing import Protocol, TypeVar

from barnabas.controller.active.active_controller import ActiveController
from barnabas.controller.active.epoch_state import (
    ControllerConfig,
    ControllerEpoch,
    ControllerEpochState,
    ControllerStats,
)
from barnabas.controller.active.fenced_tree import ControllerMovedError
from barnabas.controller.channels import BrokerChannels
from barnabas.controller.controller_election import CurrentController, resign, stand_for_election
from barnabas.controller.machines.leader_election import ElectionKind
from barnabas.model.control import AlterPartitionChange, AlterPartitionReply
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BrokerError
from barnabas.model.ids import NO_BROKER, BrokerId, ReplicaAssignment, Replicas, TopicPartition
from barnabas.runtime.clock import Clock
from barnabas.zk.tree import (
    ConnectionLossError,
    MetadataTree,
    SessionLostError,
    SessionState,
    WatchEvent,
)

_Result = TypeVar("_Result")
Event = Callable[[], Awaitable[None]]
_log = logging.getLogger(__name__)


class EventQueue:
    """Runs events in order of arrival; `on_error` receives exceptions and decides what to do.

    Watches, replies and requests only add events; none of them changes the controller's state
    itself. An event may have a key. While an event with that key is queued, another one is not
    added: a hundred changes of /brokers/topics need one read of its children.
    """

    def __init__(
        self, on_error: Callable[[Exception], None], stats: ControllerStats | None = None
    ) -> None:
        self._on_error = on_error
        self._stats = stats or ControllerStats()
        self._events: deque[tuple[str | None, str, Event, int]] = deque()
        self._waiting: set[str] = set()
        self._wake = asyncio.Event()
        self._allowed = asyncio.Event()
        self._allowed.set()

    def __len__(self) -> int:
        """Number of events that wait."""
        return len(self._events)

    def put(self, key: str | None, run: Event, kind: str = "") -> None:
        """Queues an event; metrics name it by `kind`, or by the first part of its key."""
        if key is not None:
            if key in self._waiting:
                return
            self._waiting.add(key)
        self._events.append((key, kind or event_kind(key or ""), run, perf_counter_ns()))
        self._wake.set()

    def put_first(self, run: Event) -> None:
        """Queues `run` before all other events; used to recover state after an error."""
        self._events.appendleft((None, "controller", run, perf_counter_ns()))
        self._wake.set()

    async def call(self, run: Callable[[], Awaitable[_Result]], kind: str = "request") -> _Result:
        """Queues a request and waits for its result; raises the request's exception."""
        result: asyncio.Future[_Result] = asyncio.get_running_loop().create_future()

        async def complete() -> None:
            if result.cancelled():
                return
            try:
                value = await run()
            except Exception as error:
                if not result.done():
                    result.set_exception(error)
                raise
            if not result.done():
                result.set_result(value)

        self.put(None, complete, kind)
        return await result

    def pause(self) -> None:
        """Starts no further event until `resume`."""
        self._allowed.clear()

    def resume(self) -> None:
        self._allowed.set()

    async def run(self) -> None:
        """Processes events until the task is cancelled."""
        while True:
            await self._allowed.wait()
            if not self._events:
                self._wake.clear()
                await self._wake.wait()
                continue
            key, kind, event, queued_ns = self._events.popleft()
            if key is not None:
                self._waiting.discard(key)
            await self._process(kind, event, queued_ns)
            # An event may finish without yielding to the loop. Other callbacks must run between
            # two events, for example the session listener that calls `pause`.
            await asyncio.sleep(0)

    async def _process(self, kind: str, event: Event, queued_ns: int) -> None:
        started_ns = perf_counter_ns()
        self._stats.queue_time.record(started_ns - queued_ns)
        self._stats.running = kind
        try:
            await event()
        except Exception as error:  # noqa: BLE001 - the controller's top-level loop
            self._on_error(error)
        finally:
            self._stats.processed(kind, perf_counter_ns() - started_ns)


def event_kind(key: str) -> str:
    """Returns the part of an event's key that does not name a broker or an epoch.

    >>> event_kind("log dirs of 3 in 7"), event_kind("topics in 7")
    ('log dirs', 'topics')
    """
    for word in (" in ", " of ", " by "):
        key = key.partition(word)[0]
    return key


class Registration(Protocol):
    """Writes this broker's registration into the metadata tree."""

    async def register(self) -> int: ...


class Controller:
    """Takes part in elections for one broker and runs the active controller.

    One per broker. All methods must be called on the loop that called `start`.
    """

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
        self.stats = ControllerStats()
        self._events = EventQueue(self._on_error, self.stats)
        self._current = CurrentController(NO_BROKER, 0)
        self._epoch_state: ControllerEpochState | None = None
        self._active: ActiveController | None = None
        self._session_was_lost = False
        self._tasks: list[asyncio.Task[None]] = []

    @property
    def is_active(self) -> bool:
        """Whether this broker is the controller and has finished taking over."""
        return self._active is not None

    @property
    def controller_id(self) -> BrokerId:
        """The controller at the last check, or NO_BROKER."""
        return self._current.broker_id

    @property
    def controller_epoch(self) -> int:
        """The epoch in which this broker is the controller, otherwise the last epoch seen."""
        return (
            self._epoch_state.controller_epoch.epoch if self._epoch_state else self._current.epoch
        )

    @property
    def queued_events(self) -> int:
        """Number of events that wait in the controller's queue."""
        return len(self._events)

    @property
    def queued_commands(self) -> int:
        """Number of commands that brokers have not confirmed yet; 0 if not the controller."""
        return self._epoch_state.outbox.queued if self._epoch_state is not None else 0

    @property
    def deletions(self) -> tuple[int, int]:
        """Number of topics to be deleted, and how many of them cannot be deleted now."""
        if self._epoch_state is None:
            return 0, 0
        context = self._epoch_state.context
        return len(context.topics_to_delete), len(context.blocked_deletions)

    async def start(self) -> None:
        """Takes part in an election now, and later whenever there is no controller."""
        self._tree.add_session_listener(self._on_session)
        loop = asyncio.get_running_loop()
        self._tasks.append(loop.create_task(self._events.run()))
        if self._config.auto_leader_rebalance_enable:
            self._tasks.append(loop.create_task(self._schedule_leader_rebalance()))
        await self._events.call(self._check_controller, "controller")

    async def stop(self) -> None:
        """Stops. The session stays: closing it would delete /controller and start an election."""
        for task in self._tasks:
            task.cancel()
        for task in self._tasks:
            with contextlib.suppress(asyncio.CancelledError):
                await task
        self._tasks.clear()
        self._step_down()

    # Election

    async def _check_controller(self) -> None:
        """Reads /controller; takes part in an election if the node does not exist."""
        await self._register_again()
        outcome = await stand_for_election(
            self._tree, self._broker_id, self._clock.now_ms(), self._on_controller_node
        )
        if isinstance(outcome, ControllerEpoch):
            await self._take_over(outcome)
            return
        self._current = outcome
        # Compared by session, not by broker id: a node of an earlier session of this broker belongs
        # to a controller epoch that is over.
        if outcome.session_id != self._tree.session_id:
            self._step_down()
        elif self._epoch_state is None:
            # This session owns /controller, but the response to the election was lost. The
            # version of the epoch node is not known, so the broker resigns and is elected again.
            await resign(self._tree)

    async def _register_again(self) -> None:
        """Registers in a new session: a broker without a registration must not be elected."""
        if self._session_was_lost and self._registration is not None:
            await self._registration.register()
        self._session_was_lost = False

    async def _take_over(self, controller_epoch: ControllerEpoch) -> None:
        self._step_down()
        _log.info(
            "broker %d is the controller, epoch %d",
            controller_epoch.broker_id,
            controller_epoch.epoch,
        )
        self._current = CurrentController(
            controller_epoch.broker_id, controller_epoch.epoch, self._tree.session_id
        )
        self._epoch_state = ControllerEpochState(
            controller_epoch,
            self._tree,
            self._channels,
            self._config,
            self._events,
            self.stats,
        )
        await self._begin(self._epoch_state)

    async def _begin(self, epoch_state: ControllerEpochState) -> None:
        active = ActiveController(epoch_state)
        await active.begin()
        # The session may have ended while the state was loaded.
        if self._epoch_state is epoch_state:
            self._active = active

    def _step_down(self) -> None:
        if self._epoch_state is not None:
            _log.info("broker %d is no longer the controller", self._broker_id)
            self._epoch_state.end()
        self._epoch_state = self._active = None

    def _on_controller_node(self, event: WatchEvent) -> None:
        self._events.put("controller", self._check_controller)

    # Sessions and failures

    def _on_session(self, state: SessionState) -> None:
        if state is SessionState.SUSPENDED:
            # The session may have expired already. Until the connection is back, another controller
            # may be active, so no event and no command may start.
            self._events.pause()
            if self._epoch_state is not None:
                self._epoch_state.outbox.pause()
        elif state is SessionState.CONNECTED:
            self._on_connected()
        else:
            # The tree deletes /controller with its session; a successor may already have sent
            # commands.
            self._session_was_lost = True
            self._current = CurrentController(NO_BROKER, self._current.epoch)
            self._step_down()

    def _on_connected(self) -> None:
        if self._session_was_lost:
            self._events.put("controller", self._check_controller)
        if self._epoch_state is not None:
            self._epoch_state.outbox.resume()
        self._events.resume()

    def _on_error(self, error: Exception) -> None:
        match error:
            case BrokerError():
                _log.debug("controller rejected a request: %s", error)
            case ControllerMovedError():
                _log.warning("broker %d: %s", self._broker_id, error)
                self._step_down()
                self._events.put("controller", self._check_controller)
            # No new election here: the listener starts one when there is a new session.
            case SessionLostError():
                _log.info("broker %d: %s", self._broker_id, error)
                self._step_down()
            case ConnectionLossError():
                # The outcome of the write is unknown, so the context may be wrong: load it again.
                _log.warning("controller %d reloads its state: %s", self._broker_id, error)
                self._events.put_first(self._start_over)
            case _:
                _log.error("controller %d reloads its state", self._broker_id, exc_info=error)
                self._events.put_first(self._start_over)

    async def _start_over(self) -> None:
        await asyncio.sleep(self._config.retry_backoff_s)
        epoch_state = self._epoch_state
        if epoch_state is None:
            await self._check_controller()
            return
        self._active = None
        # The epoch stays the same, because /controller_epoch still has the version of this
        # controller. Only the copy of the cluster state is discarded.
        epoch_state.start_over()
        await self._begin(epoch_state)

    # Requests: NOT_CONTROLLER when this broker is not the controller

    async def alter_partition(
        self, broker_id: BrokerId, broker_epoch: int, changes: Sequence[AlterPartitionChange]
    ) -> dict[TopicPartition, AlterPartitionReply]:
        """Applies ISR changes that a partition leader proposes (AlterPartition)."""
        return await self._request(
            "isr change", lambda c: c.isr.alter(broker_id, broker_epoch, changes)
        )

    async def controlled_shutdown(
        self, broker_id: BrokerId, broker_epoch: int
    ) -> list[TopicPartition]:
        """Moves leadership away from a broker; returns the partitions it still leads."""
        return await self._request(
            "controlled shutdown", lambda c: c.shutdown.shut_down(broker_id, broker_epoch)
        )

    async def elect_leaders(
        self, kind: ElectionKind, partitions: Collection[TopicPartition] | None = None
    ) -> dict[TopicPartition, ErrorCode]:
        """Runs preferred or unclean elections; None selects every partition that needs one."""
        return await self._request("leader election", lambda c: c.preferred.elect(kind, partitions))

    async def alter_reassignments(
        self, targets: Mapping[TopicPartition, Replicas | None]
    ) -> dict[TopicPartition, ErrorCode]:
        """Starts reassignments; a target of None cancels one."""
        return await self._request("reassignment", lambda c: c.reassignments.alter(targets))

    async def list_reassignments(
        self, partitions: Collection[TopicPartition] | None = None
    ) -> dict[TopicPartition, ReplicaAssignment]:
        """Returns the reassignments in progress."""

        async def operation(active: ActiveController) -> dict[TopicPartition, ReplicaAssignment]:
            return active.reassignments.in_progress(partitions)

        return await self._request("reassignment list", operation)

    async def _request(
        self, kind: str, operation: Callable[[ActiveController], Awaitable[_Result]]
    ) -> _Result:
        async def run() -> _Result:
            if self._active is None:
                raise BrokerError(ErrorCode.NOT_CONTROLLER)
            try:
                return await operation(self._active)
            except ControllerMovedError as error:
                raise BrokerError(ErrorCode.NOT_CONTROLLER) from error

        if self._active is None:
            raise BrokerError(ErrorCode.NOT_CONTROLLER)
        return await self._events.call(run, kind)

    async def _schedule_leader_rebalance(self) -> None:
        while True:
            await asyncio.sleep(self._config.leader_imbalance_check_interval_s)
            self._events.put("leader balance", self._rebalance_leaders)

    async def _rebalance_leaders(self) -> None:
        if self._active is not None:
            await self._active.preferred.rebalance()
