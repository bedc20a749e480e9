"""Moves logs between directories: copies chunks of each log alternately until all are moved.

A thread reads chunks and flushes copies; between two chunks the loop serves requests. When the copy
has almost caught up, one callback of the loop copies the rest and replaces the log by the copy.
`replica.alter.log.dirs.io.max.bytes.per.second` limits the rate.
"""

import asyncio
import logging
from concurrent.futures import Executor
from contextlib import suppress

from barnabas.broker.flusher import Flusher
from barnabas.model.clock import Clock
from barnabas.model.errors import BarnabasError
from barnabas.replication.throttle import ReplicationThrottle
from barnabas.storage.log_manager import LogManager
from barnabas.storage.log_move import CopyTask, LogMove

_logger = logging.getLogger("barnabas.broker")

# Delay after a transient error, such as a full disk or a damaged batch.
_BACK_OFF_MS = 10_000


class LogMover:
    """Owned by the broker's loop; has a task only while moves are in progress."""

    def __init__(
        self, logs: LogManager, flusher: Flusher, executor: Executor, clock: Clock
    ) -> None:
        self._moves = logs.moves
        self._flusher = flusher
        self._executor = executor
        self._clock = clock
        self._task: asyncio.Task[None] | None = None
        self._asked = asyncio.Event()
        self._put_off: dict[LogMove, int] = {}
        self.throttle = ReplicationThrottle(lambda _place: True)

    def wake(self) -> None:
        """Starts or continues the task; called when a move was requested."""
        self._asked.set()
        if self._task is None or self._task.done():
            self._task = asyncio.get_running_loop().create_task(self._run(), name="log-mover")

    async def stop(self) -> None:
        """Stops the task; the next start of the broker continues the moves."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait([self._task])

    async def _run(self) -> None:
        while moves := list(self._moves):
            now_ms = self._clock.monotonic_ms()
            self._put_off = {m: due for m, due in self._put_off.items() if due > now_ms}
            ready = [move for move in moves if move not in self._put_off]
            for move in ready:
                await self._advance(move)
            if not ready:
                await self._rest(min(self._put_off.values()) - now_ms)

    async def _rest(self, wait_ms: int) -> None:
        self._asked.clear()
        with suppress(TimeoutError):
            await asyncio.wait_for(self._asked.wait(), wait_ms / 1000)

    async def _advance(self, move: LogMove) -> None:
        place, now_ms = move.current.topic_partition, self._clock.monotonic_ms()
        wait_ms = self.throttle.wait_ms(place, now_ms)
        if wait_ms > 0:
            await asyncio.sleep(wait_ms / 1000)
            return
        try:
            task = self._moves.begin(move)
            if task is None or task.is_rest:
                await self._end(move)
            else:
                await self._copy(move, task)
        except (BarnabasError, OSError) as error:
            _logger.warning("%r is delayed after an error: %s", move, error)
            self._put_off[move] = self._clock.monotonic_ms() + _BACK_OFF_MS

    async def _copy(self, move: LogMove, task: CopyTask) -> None:
        await asyncio.get_running_loop().run_in_executor(self._executor, task.run)
        size = self._moves.finish(move, task)
        now_ms = self._clock.monotonic_ms()
        self.throttle.record(move.current.topic_partition, size, now_ms)
        if move.future.flush_due:
            await self._flusher.flush_log(move.future)

    async def _end(self, move: LogMove) -> None:
        if move.future.recovery_point < move.current.recovery_point:
            # Flushed here, because a flush during the swap would block the loop.
            await self._flusher.flush_log(move.future)
            task = self._moves.begin(move)
            if task is not None and not task.is_rest:
                return  # many records were appended meanwhile
        if self._moves.swap(move):
            _logger.info("moved %s to %s", move.current.topic_partition, move.future.directory)
