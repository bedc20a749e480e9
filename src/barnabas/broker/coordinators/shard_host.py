"""Loads the shards of a coordinator when the broker becomes leader, and drops them afterwards.

Generic over the two coordinators. A change of leadership is told by the partition itself, on the
loop and in order, so no command can overtake another here; a load that is still under way when
its partition moves on is cancelled.
"""

import asyncio
import logging
from collections.abc import Callable, Iterator
from typing import Generic, Protocol, TypeVar

from barnabas.broker.coordinators.log_replay import ReplayTarget, replay_log
from barnabas.coordination.shard_directory import CoordinatorDirectory, ShardState
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BarnabasError, BrokerError
from barnabas.replication.partition import Partition

_logger = logging.getLogger("barnabas.broker")
_RETRY_S = 1.0


class ShardDriver(ReplayTarget, Protocol):
    """One shard with what it needs to work; made for one leadership."""

    def activate(self) -> None:
        """Everything is replayed: begin to serve."""
        ...

    def resign(self) -> None:
        """Stops the shard and fails every waiting request."""
        ...


DriverT = TypeVar("DriverT", bound=ShardDriver)


class ShardHost(Generic[DriverT]):
    """The shards of one internal topic by partition number; owned by the broker's loop."""

    def __init__(self, topic: str, buffer_bytes: int, make: Callable[[Partition], DriverT]) -> None:
        self.topic = topic
        self._buffer_bytes = buffer_bytes
        self._make = make
        self._directory = CoordinatorDirectory()
        self._drivers: dict[int, DriverT] = {}
        self._loads: dict[int, asyncio.Task[None]] = {}
        self._stopped = False

    def get(self, partition: int) -> DriverT:
        """The serving shard; BrokerError says what to tell a client when there is none."""
        state = self._directory.state(partition)
        if state is ShardState.ACTIVE:
            return self._drivers[partition]
        if state is ShardState.LOADING:
            raise BrokerError(ErrorCode.COORDINATOR_LOAD_IN_PROGRESS)
        raise BrokerError(ErrorCode.NOT_COORDINATOR)

    def active(self) -> Iterator[DriverT]:
        """All shards that serve."""
        for number in self._directory.partitions():
            if self._directory.state(number) is ShardState.ACTIVE:
                yield self._drivers[number]

    @property
    def loading(self) -> bool:
        """Whether any shard is not ready yet."""
        states = map(self._directory.state, self._directory.partitions())
        return any(state is ShardState.LOADING for state in states)

    def leadership_changed(self, partition: Partition) -> None:
        """Begin or cease to serve a partition of the topic."""
        number = partition.topic_partition.partition
        if not partition.is_leader:
            self._unload(number)
        elif self._directory.state(number) in (None, ShardState.FAILED) and not self._stopped:
            # One who leads on at a higher epoch has lost nothing and loads nothing.
            self._load(number, partition)

    async def stop(self) -> None:
        """Resign everywhere; nothing is loaded any more."""
        self._stopped = True
        tasks = list(self._loads.values())
        for number in self._directory.partitions():
            self._unload(number)
        await asyncio.gather(*tasks, return_exceptions=True)

    def _load(self, number: int, partition: Partition) -> None:
        epoch = partition.leader_epoch
        if not self._directory.begin_load(number, epoch):
            return
        driver = self._drivers[number] = self._make(partition)
        if partition.log.log_end_offset == partition.log.log_start_offset:
            self._serve(number, epoch, driver)
            return
        coroutine = self._replay(number, epoch, partition, driver)
        self._loads[number] = asyncio.get_running_loop().create_task(coroutine)

    async def _replay(self, number: int, epoch: int, partition: Partition, driver: DriverT) -> None:
        try:
            await replay_log(partition, driver, self._buffer_bytes)
        except (BarnabasError, OSError) as error:
            _logger.error("%s: loading failed: %s", partition.topic_partition, error)
            self._fail(number, epoch, partition)
        except Exception:
            _logger.exception("%s: loading failed", partition.topic_partition)
            self._fail(number, epoch, partition)
        else:
            self._loads.pop(number, None)
            self._serve(number, epoch, driver)

    def _serve(self, number: int, epoch: int, driver: DriverT) -> None:
        if self._directory.finish_load(number, epoch):
            driver.activate()

    def _fail(self, number: int, epoch: int, partition: Partition) -> None:
        """A load that broke is tried again for as long as the partition is led (KAFKA-9307)."""
        self._loads.pop(number, None)
        if self._directory.fail_load(number, epoch):
            self._drivers.pop(number).resign()
            loop = asyncio.get_running_loop()
            loop.call_later(_RETRY_S, self.leadership_changed, partition)

    def _unload(self, number: int) -> None:
        task = self._loads.pop(number, None)
        if task is not None:
            task.cancel()
        if self._directory.unload(number, None):
            driver = self._drivers.pop(number, None)
            if driver is not None:
                driver.resign()
