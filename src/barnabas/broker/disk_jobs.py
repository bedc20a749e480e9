"""Work on logs that runs in threads: flushes, checkpoints, and moves between log directories.

The broker's loop starts each piece of work and applies its result; only reading, copying and fsync
happen in a thread.
"""

import asyncio
import logging
from collections.abc import Callable
from concurrent.futures import Executor
from contextlib import suppress
from functools import partial
from time import perf_counter_ns

from barnabas.broker.tasks import PARTITIONS_PER_SLICE
from barnabas.model.errors import BarnabasError, BrokerError
from barnabas.replication.isr import FlushTicket
from barnabas.replication.partition import Partition
from barnabas.replication.throttle import ReplicationThrottle
from barnabas.runtime.clock import Clock
from barnabas.runtime.metrics import Histogram
from barnabas.runtime.slices import slices_of
from barnabas.storage import file_names
from barnabas.storage.checkpoints import BackgroundCheckpoints
from barnabas.storage.log import Log
from barnabas.storage.log_manager import LogManager
from barnabas.storage.log_moves import CopyTask, LogMove

_logger = logging.getLogger("barnabas.broker")
# Delay after a transient error, such as a full disk or a damaged batch.
_MOVE_RETRY_MS = 10_000


class Flusher:
    """Flushes logs in threads and calls back when the data is on disk.

    Owned by the broker's loop; only `FlushTask.run` happens on the executor's threads.

    For a broker that acknowledges only records on disk (`fsync.before.ack`, or `flush.messages` of
    1 on a topic), and for the periodic flushes. Appends during a flush are part of the next one, so
    many producers share each fsync.
    """

    def __init__(self, executor: Executor, clock: Clock) -> None:
        self._executor = executor
        self._clock = clock
        self.duration = Histogram()
        """Metric: nanoseconds of each flush."""
        self._running: dict[Partition, asyncio.Task[None]] = {}
        self._again: set[Partition] = set()
        self.on_flushed: Callable[[Partition], None] = lambda _partition: None
        """Called after each flush: a follower may then report its flushed offset."""

    def request(self, partition: Partition) -> None:
        """Schedules a flush of the partition; calls `flushed` on it afterwards."""
        if partition in self._running:
            self._again.add(partition)
            return
        task = asyncio.get_running_loop().create_task(self._flush_partition(partition))
        self._running[partition] = task

    def after_append(self, partition: Partition) -> None:
        """Flushes a log that reached `flush.messages` or has finished a segment.

        A topic that needs every record on disk before its acknowledgement is flushed
        synchronously; the others in the background.
        """
        log = partition.log
        if not isinstance(log, Log) or not log.flush_due:
            return
        # The acknowledgement follows in the same callback, so a background flush would come too
        # late.
        if log.config.flush_messages == 1:
            log.flush()
        else:
            self.request(partition)

    async def flush_log(self, log: Log) -> None:
        """Flushes one log; a failure takes its directory offline and is raised."""
        task = log.begin_flush()
        if task is not None:
            started_ns = perf_counter_ns()
            await asyncio.get_running_loop().run_in_executor(self._executor, task.run)
            self.duration.record(perf_counter_ns() - started_ns)
            log.finish_flush(task)
        log.last_flush_ms = self._clock.monotonic_ms()

    async def drain(self) -> None:
        """Waits for running flushes."""
        while self._running:
            await asyncio.wait(list(self._running.values()))

    async def _flush_partition(self, partition: Partition) -> None:
        try:
            while True:
                self._again.discard(partition)
                # Taken before the flush: it covers only records that are in the file now.
                ticket: FlushTicket = partition.flush_ticket()
                await self.flush_log(partition.log)  # type: ignore[arg-type]  # the port of a Log
                partition.flushed(ticket)
                self.on_flushed(partition)
                if partition not in self._again:
                    return
        except BrokerError as error:
            _logger.error("%s: flush failed: %s", partition.topic_partition, error)
        finally:
            self._again.discard(partition)
            del self._running[partition]


class CheckpointWriter:
    """Writes the checkpoint files of all log directories; owned by the broker's loop.

    The loop collects the values in slices, a thread writes and syncs them.
    """

    def __init__(self, logs: LogManager, executor: Executor) -> None:
        self._logs = logs
        self._executor = executor
        self._changes = logs.changes
        self._checkpoints = BackgroundCheckpoints(logs.dirs, logs.checkpoints)
        self._writing: dict[str, asyncio.Lock] = {}

    async def write(self, name: str) -> None:
        """Writes one kind of checkpoint, unless no log has changed since the last call."""
        async with self._writing.setdefault(name, asyncio.Lock()):
            while self._changes.take_outdated(name) and await self._write_once(name):
                pass

    async def log_start_offsets(self) -> None:
        """Writes the log start offsets; on return they are on the disk."""
        await self.write(file_names.LOG_START_OFFSETS)
        for directory in self._logs.dirs.online:
            try:
                await self._in_thread(partial(directory.fs.sync_dir, directory.path))
            except OSError as error:
                directory.health.write_failed(error)

    async def _write_once(self, name: str) -> bool:
        """Returns whether a log was truncated or deleted meanwhile, so that a file is outdated."""
        complete = False
        try:
            complete, outdated = await self._write_files(name)
        finally:
            if not complete:
                self._changes.still_outdated(name)
        return outdated

    async def _write_files(self, name: str) -> tuple[bool, bool]:
        """Returns whether all files were written, and whether one is outdated."""
        collected = self._checkpoints.new_collection()
        async for logs in slices_of(self._logs.maintenance.logs(), PARTITIONS_PER_SLICE):
            self._checkpoints.collect(collected, name, logs)
        complete, outdated = True, False
        for task in self._checkpoints.tasks(name, collected):
            await self._in_thread(task.run)
            written = self._checkpoints.finish(task)
            failed = task.error is not None or task.directory.health.failed
            complete = complete and written
            outdated = outdated or not (written or failed)
        return complete, outdated

    async def _in_thread(self, work: Callable[[], None]) -> None:
        await asyncio.get_running_loop().run_in_executor(self._executor, work)


class LogMover:
    """Copies the logs that move to another log directory.

    Owned by the broker's loop; has a task only while moves are in progress.

    Chunks of each log are copied alternately until all are moved.

    A thread reads chunks and flushes copies; between two chunks the loop serves requests. When the
    copy has almost caught up, one callback of the loop copies the rest and replaces the log by the
    copy. `replica.alter.log.dirs.io.max.bytes.per.second` limits the rate.
    """

    def __init__(
        self, logs: LogManager, flusher: Flusher, executor: Executor, clock: Clock
    ) -> None:
        self._moves = logs.moves
        self._flusher = flusher
        self._executor = executor
        self._clock = clock
        self._task: asyncio.Task[None] | None = None
        self._woken = asyncio.Event()
        self._put_off: dict[LogMove, int] = {}
        self.throttle = ReplicationThrottle(lambda _partition: True)

    def wake(self) -> None:
        """Starts or continues the task; called when a move was requested."""
        self._woken.set()
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
                await self._wait_until_due(min(self._put_off.values()) - now_ms)

    async def _wait_until_due(self, wait_ms: int) -> None:
        self._woken.clear()
        with suppress(TimeoutError):
            await asyncio.wait_for(self._woken.wait(), wait_ms / 1000)

    async def _advance(self, move: LogMove) -> None:
        topic_partition, now_ms = move.current.topic_partition, self._clock.monotonic_ms()
        wait_ms = self.throttle.wait_ms(topic_partition, now_ms)
        if wait_ms > 0:
            await asyncio.sleep(wait_ms / 1000)
            return
        try:
            task = self._moves.begin(move)
            if task is None or task.is_last:
                await self._end(move)
            else:
                await self._copy(move, task)
        except (BarnabasError, OSError) as error:
            _logger.warning("%r is delayed after an error: %s", move, error)
            self._put_off[move] = self._clock.monotonic_ms() + _MOVE_RETRY_MS

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
            if task is not None and not task.is_last:
                return  # many records were appended meanwhile
        if self._moves.swap(move):
            _logger.info("moved %s to %s", move.current.topic_partition, move.future.directory)
