"""Commits of a consumer: their order, their retries, and the report of a failure.

`core` decides which offsets are committed and when; `offsets` sends the request. An automatic
commit that fails is logged, because the next one includes its offsets. The commit before partitions
are revoked has no successor, so transient errors are retried.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from functools import partial
from typing import Any

from barnabas.clients.core.backoff import Backoff, Retries, retry_until
from barnabas.clients.group.errors import CommitFailedError
from barnabas.clients.group.offsets import Offsets
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BarnabasError, BrokerError
from barnabas.model.ids import TopicPartition
from barnabas.model.records import OffsetAndMetadata

logger = logging.getLogger(__name__)

REJOIN_SECONDS = 3.0
"""Maximum wait for the end of a rebalance before the last commit."""
JOIN_CHECK_SECONDS = 0.01
LAST_COMMIT_SECONDS = 5.0
"""Maximum time for the commit before partitions are revoked, retries included."""
UNKNOWN_TOPIC = frozenset({ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, ErrorCode.UNKNOWN_TOPIC_ID})

CommittedPositions = Mapping[TopicPartition, OffsetAndMetadata]
CommitCallback = Callable[[CommittedPositions, BarnabasError | None], Any]


async def commit_when_joined(
    commit: Callable[[], Awaitable[None]], joining: Callable[[], bool]
) -> None:
    """Commits the offsets of a member that leaves; no later commit includes them.

    A member that leaves during a rebalance has sent JoinGroup, so its generation is valid only
    until the coordinator starts the next one. The coordinator rejects a commit in between,
    although no other member owns the partitions yet, and accepts it after the join. So a
    rejected commit is retried until the join has ended.
    """
    deadline_s = asyncio.get_running_loop().time() + REJOIN_SECONDS
    while True:
        was_joining = joining()
        try:
            await commit()
            return
        except (CommitFailedError, BrokerError):
            if not (was_joining or joining()) or not await _joined(joining, deadline_s):
                raise


async def _joined(joining: Callable[[], bool], deadline_s: float) -> bool:
    loop = asyncio.get_running_loop()
    while joining():
        if loop.time() >= deadline_s:
            return False
        await asyncio.sleep(JOIN_CHECK_SECONDS)
    return loop.time() < deadline_s


class Commits:
    """Commits offsets in order, and retries the commits that no later one repeats.

    Owned by the client's event loop.

    Args:
        offsets: sends the requests.
        interceptors: `on_commit(offsets)` is called after a successful commit.
        backoff: returns the pauses between attempts of one commit.
        joining: whether the member takes part in a rebalance, which rejects commits.
        on_unknown_topic: called when a committed topic does not exist any more.
    """

    def __init__(
        self,
        offsets: Offsets,
        interceptors: Sequence[Any],
        backoff: Callable[[], Backoff],
        joining: Callable[[], bool],
        on_unknown_topic: Callable[[], None],
    ) -> None:
        self._offsets = offsets
        self._interceptors = interceptors
        self._backoff = backoff
        self._joining = joining
        self._on_unknown_topic = on_unknown_topic
        self._running: set[asyncio.Task[None]] = set()

    # -- commits of the application ------------------------------------------------------------

    async def commit(self, offsets: CommittedPositions, timeout_s: float) -> None:
        """Commits and retries transient errors."""
        await self._earlier_commits()
        await self._offsets.commit(offsets, asyncio.get_running_loop().time() + timeout_s)
        self._notify_interceptors(offsets)

    async def commit_once(self, offsets: CommittedPositions) -> None:
        await self._offsets.commit_once(offsets)
        self._notify_interceptors(offsets)

    def begin(self, offsets: CommittedPositions, callback: CommitCallback | None) -> None:
        """Starts one attempt; calls `callback(offsets, error)` at its end. Call it on the loop."""

        async def commit() -> None:
            error = None
            try:
                await self.commit_once(offsets)
            except BarnabasError as failure:
                error = failure
            if callback is not None:
                callback(offsets, error)

        self._start(commit())

    # -- automatic commits ---------------------------------------------------------------------

    def begin_automatic(self, offsets: CommittedPositions) -> None:
        """Starts one attempt; a failure is logged. Call it on the loop."""
        self._start(self._log_failure(self.commit_once(offsets)))

    async def before_rebalance(self, offsets: CommittedPositions) -> None:
        """Commits before partitions are revoked; logs a failure."""
        await self._log_failure(self._commit_last(offsets, LAST_COMMIT_SECONDS))

    async def before_leaving(self, offsets: CommittedPositions, timeout_s: float) -> None:
        """Commits before the consumer leaves its group; logs a failure."""
        await self._earlier_commits()
        limit_s = min(timeout_s, LAST_COMMIT_SECONDS)
        try:
            await commit_when_joined(partial(self._commit_last, offsets, limit_s), self._joining)
        except BarnabasError as error:
            logger.warning("the last automatic commit failed: %s", error)

    async def finish(self) -> None:
        """Waits for the commits that were started."""
        await asyncio.gather(*self._running)

    async def _commit_last(self, offsets: CommittedPositions, limit_s: float) -> None:
        """Commits offsets that no later commit includes, so that a transient error is retried.

        Without the retry the next owner of the partitions reads the records again. An example is a
        commit that the coordinator receives after it has changed the member epoch (KIP-848).
        """
        deadline_s = asyncio.get_running_loop().time() + limit_s
        retries = Retries("the last automatic commit", deadline_s, self._backoff(), _is_transient)
        await retry_until(partial(self.commit_once, offsets), retries)

    async def _log_failure(self, commit: Awaitable[None]) -> None:
        try:
            await commit
        except BarnabasError as error:
            # During a rebalance the coordinator rejects commits of the old generation.
            level = logging.DEBUG if self._joining() else logging.WARNING
            logger.log(level, "automatic commit failed: %s", error)
            if _names_unknown_topic(error):
                self._on_unknown_topic()  # A deleted topic is left out of the next commit.

    async def _earlier_commits(self) -> None:
        """Waits for earlier commits, because a late one would move offsets back."""
        # Commits that were submitted from the polling thread become tasks in this iteration.
        await asyncio.sleep(0)
        if self._running:
            await asyncio.wait(self._running)

    def _start(self, commit: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(commit)
        self._running.add(task)
        task.add_done_callback(self._running.discard)

    def _notify_interceptors(self, offsets: CommittedPositions) -> None:
        for interceptor in self._interceptors:
            interceptor.on_commit(offsets)


def _is_transient(error: BarnabasError) -> bool:
    """Returns whether another attempt may succeed; an unknown topic was deleted."""
    return error.retriable and not _names_unknown_topic(error)


def _names_unknown_topic(error: BarnabasError) -> bool:
    return isinstance(error, BrokerError) and error.code in UNKNOWN_TOPIC
