"""The core of both consumers: creates and connects the components, and owns the loop's tasks.

Everything runs on the loop that created the core, except for the methods in the section "polling
thread": the polling thread calls them directly, and none of them waits for the loop.
"""

import asyncio
import inspect
import logging
import secrets
import threading
from collections.abc import Awaitable, Callable, Collection, Mapping
from contextlib import suppress
from functools import partial
from time import monotonic_ns
from typing import TYPE_CHECKING, Any

from barnabas.clients.core.apis.list_offsets import OffsetAndTimestamp
from barnabas.clients.core.backoff import Backoff
from barnabas.clients.core.client import KafkaClient
from barnabas.clients.core.cluster_metadata import PartitionMetadata
from barnabas.clients.group._iteration_hot import RecordIterator
from barnabas.clients.group.classic_member import ClassicMember
from barnabas.clients.group.commits import Commits
from barnabas.clients.group.decoding import Deserialization
from barnabas.clients.group.errors import CommitFailedError
from barnabas.clients.group.fetch_buffer import FetchBuffer
from barnabas.clients.group.fetcher import Fetcher
from barnabas.clients.group.kip848_member import Kip848Member
from barnabas.clients.group.membership_actions import AssignmentStep, Membership, StepKind
from barnabas.clients.group.membership_driver import MembershipDriver
from barnabas.clients.group.metrics import (
    FetchMeters,
    PartitionMetrics,
    PollMeters,
    add_coordinator_metrics,
    add_fetch_metrics,
    add_poll_metrics,
    add_topic_metrics,
)
from barnabas.clients.group.position_keeper import PositionKeeper
from barnabas.clients.group.settings import ConsumerSettings
from barnabas.clients.group.subscription import SubscriptionState
from barnabas.clients.metrics.client_metrics import ClientMetrics
from barnabas.model.errors import ClosedError, DeadlineError
from barnabas.model.ids import TopicPartition, Uuid, as_topic_partition
from barnabas.model.records import GroupMetadata, OffsetAndMetadata
from barnabas.records.record import Record
from barnabas.runtime.clock import SystemClock

if TYPE_CHECKING:
    import pyarrow

logger = logging.getLogger(__name__)

Records = dict[TopicPartition, list[Record]]

POLLS_PER_SLICE = 4
"""An iteration yields to the event loop after this multiple of max.poll.records, at the latest."""


class ConsumerCore:
    """The components of a consumer that run on the client's loop.

    Created on the event loop that owns it. Any thread may call `notify`.
    """

    def __init__(
        self,
        settings: ConsumerSettings,
        notify: Callable[[], None],
        refill: Callable[[], Record] | None = None,
        slice_s: float | None = None,
    ) -> None:
        """Creates the components.

        Args:
            settings: the configuration.
            notify: wakes the polling thread; called for data, rebalance steps and failures.
            refill: continues an iteration at the end of a block, see `RecordIterator`.
            slice_s: time after which an iteration yields to the event loop; None for a thread.
        """
        self.settings = settings
        self.subscription = SubscriptionState()
        self._clock = SystemClock()
        debug, committed_only = settings.metrics.debug, settings.committed_only
        meters = FetchMeters(self._clock, committed_only=committed_only, debug=debug)
        self.buffer = FetchBuffer(self.subscription, meters)
        self._deserialization = Deserialization(settings, self.all_processed)
        convert, lock = self._deserialization.convert_one(), self.subscription.lock
        slice_records = POLLS_PER_SLICE * settings.max_poll_records
        self.reader = RecordIterator(lock, convert, refill, slice_s, slice_records)
        self._wake_polling_thread = notify
        self._loop = asyncio.get_running_loop()
        self._loop_ident = threading.get_ident()
        client_id = settings.client.connection.client_id
        self.metrics = ClientMetrics("consumer", client_id, settings.metrics, self._clock)
        self.client = KafkaClient(settings.client, self.metrics)
        self.client.allow_auto_create(settings.auto_create_topics)
        parts = (settings, self.client, self.subscription, self.buffer, self._clock)
        self.fetcher = Fetcher(*parts)
        self.fetcher.shares_loop = slice_s is not None
        self.keeper = PositionKeeper(*parts)
        self.offsets = self.keeper.offsets
        self._meters = self.offsets.meters
        self._polls = PollMeters()
        self.driver = self._make_driver()
        self.commits = self._make_commits()
        self._add_metrics()
        self._positioned = asyncio.Event()
        self._wake_due = False
        self._next_auto_commit_ms = 0
        self._commit_timer = False
        self._wire()
        runs = [self.fetcher.run(), self.keeper.run()]
        if self.driver is not None:
            runs.append(self.driver.run())
        self._tasks = [self._loop.create_task(run) for run in runs]

    def _add_metrics(self) -> None:
        metrics, subscription = self.metrics, self.subscription
        add_poll_metrics(metrics, self._polls)
        add_coordinator_metrics(metrics, self._meters, lambda: len(subscription.assigned()))
        add_fetch_metrics(metrics, self.buffer.meters, lambda: self.buffer.total_bytes)
        add_topic_metrics(metrics, self.buffer.meters)
        committed_only = self.settings.committed_only
        metrics.add(PartitionMetrics(metrics, subscription, committed_only=committed_only))

    def _make_driver(self) -> MembershipDriver | None:
        if self.settings.group is None:
            return None
        group, backoff_ms = self.settings.group, self.settings.client.retry_backoff_ms
        member: Membership
        if group.protocol == "consumer":
            names = self.client.metadata.topic_names
            member = Kip848Member(group, backoff_ms, str(Uuid.random(secrets.token_bytes)), names)
            self.offsets.member_in_fetch = True
        else:
            member = ClassicMember(group, backoff_ms)
        parts = (self.settings, self.client, self.subscription, member, self._clock)
        driver = MembershipDriver(*parts)
        driver.meters = self._meters
        return driver

    def _make_commits(self) -> Commits:
        options = self.settings.client
        return Commits(
            self.offsets,
            self.settings.interceptors,
            lambda: Backoff(options.retry_backoff_ms, options.retry_backoff_max_ms),
            self._joining,
            self.keeper.look_up_topics,
        )

    def _wire(self) -> None:
        self.buffer.on_data = self._notify
        self.client.on_permanent_error = self._notify
        self.buffer.on_room = self._on_room
        self.fetcher.on_out_of_range = self.keeper.out_of_range
        self.fetcher.on_unvalidated = self.keeper.wake
        self.keeper.on_position = self._position_found
        self.offsets.member = self.group_metadata
        self.offsets.committer = self._committing_member
        if self.driver is not None:
            self.driver.on_step = self._notify
            self.offsets.on_rebalance = self.driver.group_rebalances
            self.driver.polls.reader = self.reader

    def _notify(self) -> None:
        """Wakes the polling thread, also one that iterates over a block."""
        self.reader.interrupt()
        self._wake_polling_thread()

    def _position_found(self) -> None:
        self.fetcher.wake()
        self._positioned.set()

    # -- polling thread ------------------------------------------------------------------------

    def wake(self) -> None:
        """Wakes the fetcher, position keeper and membership. Any thread may call it."""
        if self._wake_due:
            return
        self._wake_due = True
        try:
            self._loop.call_soon_threadsafe(self._wake_parts)
        except RuntimeError:
            raise ClosedError("the consumer is closed") from None

    def _on_room(self) -> None:
        """Wakes the fetcher if it waits for room, and there is some now.

        A piece that is used up is not always a reason: a wake-up from another thread costs as much
        as a quarter of receiving a megabyte, and a plan of 1,000 partitions as much as decoding
        thousands of records.
        """
        if self.buffer.total_bytes >= self.fetcher.resume_below:
            return
        self.fetcher.resume_below = 0  # one wake-up is enough until the next plan
        if threading.get_ident() == self._loop_ident:
            self.fetcher.wake()
            return
        with suppress(RuntimeError):  # the loop is closed, and the records are returned
            self._loop.call_soon_threadsafe(self.fetcher.wake)

    def begin_wait(self) -> int:
        """Ends the iteration's block, records a poll for `max.poll.interval.ms`; returns the time.

        The block ends because other partitions, automatic commits and rebalances have priority
        over the rest of it.
        """
        self.end_block()
        now_ms = self._clock.monotonic_ms()
        self._polls.began(now_ms)
        if self.driver is not None:
            first = not self.driver.polls.last_ms
            self.driver.polls.last_ms = now_ms
            self.driver.polls.polling = True
            if first:
                self.wake()
        return now_ms

    def begin_poll(self) -> None:
        """Records a poll and starts an automatic commit of earlier records if one is due."""
        now_ms = self.begin_wait()
        if not self.settings.auto_commit or now_ms < self._next_auto_commit_ms:
            return
        first = self._next_auto_commit_ms == 0
        self._next_auto_commit_ms = now_ms + self.settings.auto_commit_interval_ms
        if not first:
            self.commit_soon()

    def commit_soon(self) -> None:
        """Starts a commit of all positions if commits are automatic."""
        offsets = self._consumed() if self.settings.auto_commit else {}
        if offsets:
            self._loop.call_soon_threadsafe(self.commits.begin_automatic, offsets)

    def end_poll(self) -> None:
        now_ms = self._clock.monotonic_ms()
        self._polls.ended(now_ms)
        if self.driver is not None:
            self.driver.polls.last_ms = now_ms
            self.driver.polls.polling = False

    def take_records(self, max_records: int) -> Records:
        found = self._deserialization.apply(self.buffer.take(max_records), self.subscription)
        if not found:  # An interceptor may have removed all records.
            self.subscription.all_processed()
        return found

    def load_block(self) -> bool:
        """Lets `reader` return records of one partition; returns whether there are any."""
        found = self.buffer.load_block(self.reader, self.settings.max_poll_records)
        if found and self.settings.auto_commit and not self._commit_timer:
            self._commit_timer = True
            self._loop.call_soon_threadsafe(self._start_commit_timer)
        return found

    def end_block(self) -> None:
        """Sets the position after the last record that the iteration returned."""
        self.buffer.end_block(self.reader)

    def all_processed(self) -> None:
        """The application has processed all records that it got: it asks for more of them."""
        self.end_block()
        self.subscription.all_processed()

    def take_arrow(self) -> "pyarrow.RecordBatch | None":
        return self.buffer.take_arrow()

    def raise_failures(self) -> None:
        """Raises the first error that poll() must report when it has no records."""
        topics = self.subscription.topics or {p.topic for p in self.subscription.assigned()}
        error = self.client.permanent_error(topics)
        if error is not None:
            raise error
        if self.driver is not None and self.driver.member.fatal is not None:
            raise self.driver.member.fatal
        self.buffer.raise_failure()

    def take_step(self) -> AssignmentStep | None:
        """Returns the pending rebalance step; call `step_done` after running it."""
        if self.driver is None or not self.driver.steps:
            return None
        try:
            return self.driver.steps.popleft()
        except IndexError:
            return None  # The loop has withdrawn it in the meantime.

    def commit_before(
        self, step: AssignmentStep, *, processed_only: bool = False
    ) -> Mapping[TopicPartition, OffsetAndMetadata]:
        """Returns the offsets to commit before a step: all, or those of the revoked partitions.

        With `processed_only`, the records in progress are left out: they must be read again.
        """
        if not self.settings.auto_commit or step.kind in (StepKind.LOST, StepKind.ASSIGN):
            return {}
        consumed = self._consumed(processed_only=processed_only)
        if step.kind is StepKind.REVOKE:
            return {
                topic_partition: at
                for topic_partition, at in consumed.items()
                if topic_partition in step.partitions
            }
        return consumed

    def _consumed(self, *, processed_only: bool = False) -> dict[TopicPartition, OffsetAndMetadata]:
        """Returns the positions for an automatic commit, without deleted topics."""
        deleted = self.client.metadata.deleted
        subscription = self.subscription
        consumed = subscription.processed() if processed_only else subscription.consumed()
        return {
            topic_partition: at
            for topic_partition, at in consumed.items()
            if topic_partition.topic not in deleted
        }

    def leaving_step(self) -> AssignmentStep:
        """Returns the step for a consumer that leaves by itself.

        A removed member has lost its partitions: it commits nothing and calls on_partitions_lost.
        """
        lost = self.subscription.uses_group and self.driver and self.driver.member.removal
        assigned = frozenset(self.subscription.assigned())
        if not lost:
            return AssignmentStep(StepKind.PREPARE, assigned)
        if self.settings.auto_commit and assigned:
            logger.warning(
                "group %s: this consumer was removed from the group (%s), its last offsets are not "
                "committed: the records after the last commit are read again",
                lost.group.group_id,
                lost.reason,
            )
        return AssignmentStep(StepKind.LOST, assigned)

    def apply_step(self, step: AssignmentStep) -> None:
        """Changes the assignment: after the listener for a revocation, before it otherwise."""
        held = self.subscription.assigned()
        if step.kind is StepKind.ASSIGN:
            self.subscription.replace_assignment([*held, *sorted(step.partitions)])
        elif step.partitions:
            left = [
                topic_partition
                for topic_partition in held
                if topic_partition not in step.partitions
            ]
            self.subscription.replace_assignment(left)

    def listener_call(self, step: AssignmentStep) -> Callable[[], object] | None:
        """Returns the call of the application's listener for a step, or None."""
        listener = self.subscription.listener
        if listener is None or (step.kind is not StepKind.ASSIGN and not step.partitions):
            return None
        names = {StepKind.ASSIGN: "on_partitions_assigned", StepKind.LOST: "on_partitions_lost"}
        name = names.get(step.kind, "on_partitions_revoked")
        method = getattr(listener, name, None)
        if method is None and step.kind is StepKind.LOST:
            method = getattr(listener, "on_partitions_revoked", None)
        if method is None:
            return None
        event = name.removeprefix("on_partitions_")
        return partial(self._call_listener, event, method, sorted(step.partitions))

    def _call_listener(
        self, event: str, method: Callable[[Any], object], partitions: list[TopicPartition]
    ) -> object:
        """Calls the listener and measures it; returns its result, awaitable or not."""
        started_ns = monotonic_ns()
        result = method(partitions)
        if inspect.isawaitable(result):
            return self._await_listener(event, result, started_ns)
        self._meters.called(event, started_ns)
        return result

    async def _await_listener(self, event: str, result: Awaitable[object], started_ns: int) -> None:
        await result
        self._meters.called(event, started_ns)

    def step_done(self, step: AssignmentStep) -> None:
        """Reports that the polling thread has run a step."""
        assert self.driver is not None
        self._loop.call_soon_threadsafe(self.driver.step_done, step)
        self.wake()

    # -- on the loop ---------------------------------------------------------------------------

    def group_metadata(self) -> GroupMetadata | None:
        if self.driver is None or self.settings.group is None:
            return None
        if self.subscription.uses_group:
            # A removed member sends its old member id, which the coordinator rejects. It would
            # accept a commit without a member id as soon as the group has no members.
            removal = self.driver.member.removal
            return self.driver.member.group if removal is None else removal.group
        return GroupMetadata(self.settings.group.group_id)

    def _committing_member(self) -> GroupMetadata | None:
        """Returns the identity for a commit; raises CommitFailedError for a removed member."""
        member = self.group_metadata()
        if self.driver is None or member is None or not self.subscription.uses_group:
            return member
        removal = self.driver.member.removal
        if removal is not None:
            raise CommitFailedError(
                f"this consumer was removed from the group {member.group_id!r} ({removal.reason}), "
                "so its offsets are not committed: its partitions may have another owner, which "
                "reads these records again; poll() more often, or process less per poll"
            )
        if member.generation_id < 0:
            if self.driver.member.fatal is not None:
                raise self.driver.member.fatal
            raise CommitFailedError(
                f"this consumer is not a member of the group {member.group_id!r} yet: poll() first"
            )
        return member

    async def commit(
        self, offsets: Mapping[TopicPartition, OffsetAndMetadata], timeout_s: float
    ) -> None:
        started_ns = monotonic_ns()
        await self.commits.commit(offsets, timeout_s)
        self._polls.commit_sync.record(monotonic_ns() - started_ns)

    async def committed(
        self, topic_partitions: Collection[TopicPartition], timeout_s: float
    ) -> dict[TopicPartition, OffsetAndMetadata | None]:
        named = [as_topic_partition(topic_partition) for topic_partition in topic_partitions]
        started_ns = monotonic_ns()
        found = await self.offsets.committed(named, self._loop.time() + timeout_s)
        self._polls.committed.record(monotonic_ns() - started_ns)
        return found

    async def find_offsets(
        self, timestamps: Mapping[TopicPartition, int], timeout_s: float
    ) -> dict[TopicPartition, OffsetAndTimestamp]:
        named = {
            as_topic_partition(topic_partition): at for topic_partition, at in timestamps.items()
        }
        return await self.offsets.find(named, self._loop.time() + timeout_s)

    async def partitions_for(self, topic: str, timeout_s: float) -> list[PartitionMetadata]:
        await self.client.partitions(topic, self._loop.time() + timeout_s)
        return self.client.metadata.partitions_of(topic)

    def assignment_pending(self) -> str | None:
        """Returns the reason why this consumer cannot read yet, or None.

        A member to which the group assigned no partitions waits for nothing: the result is None.
        """
        topics = self.subscription.topics
        missing = sorted(t for t in topics if not self.client.metadata.partition_count(t))
        if self.client.outage.cause is not None:
            return str(self.client.outage.cause)
        if self.driver is not None and self.subscription.uses_group:
            member = self.driver.member
            if missing and self.client.metadata.generation:
                return f"topic {missing[0]!r} does not exist"
            if member.group.generation_id < 0 or not member.settled:
                return "the group has not finished its rebalance"
        unpositioned = [s.partition for s in self.subscription.states() if not s.has_position]
        return f"{unpositioned[0]} has no position yet" if unpositioned else None

    async def position(self, topic_partition: TopicPartition, timeout_s: float) -> int:
        """Returns the position; waits until it is known."""
        state = self.subscription.require(topic_partition)
        self.keeper.wake()
        try:
            async with asyncio.timeout(timeout_s):
                while not state.has_position:
                    self.buffer.raise_failure()
                    self._positioned.clear()
                    await self._until_soon(self._positioned.wait())
        except TimeoutError:
            raise DeadlineError(f"{topic_partition}: no position within {timeout_s:g} s") from None
        return state.offset

    async def ping(self, timeout_s: float) -> None:
        await self.client.ping(timeout_s)

    async def unsubscribe(self) -> None:
        if self.driver is not None:
            await self.driver.leave("unsubscribed")

    async def close(self, timeout_s: float) -> None:
        """Leaves the group, stops all tasks and closes the connections."""
        try:
            async with asyncio.timeout(timeout_s):
                await self.commits.finish()
                if self.driver is not None and self.subscription.uses_group:
                    await self.driver.leave("the consumer was closed")
        except TimeoutError:
            logger.warning("closing took more than %g s: the leave request was not sent", timeout_s)
        finally:
            for task in self._tasks:
                task.cancel()
            await asyncio.gather(*self._tasks, return_exceptions=True)
            if self.driver is not None:
                await self.driver.close()
            await self.keeper.close()
            await self.fetcher.close()
            await self.client.close()
            self._deserialization.close()

    def _start_commit_timer(self) -> None:
        """Interrupts the iteration when an automatic commit is due."""
        delay_ms = max(self._next_auto_commit_ms - self._clock.monotonic_ms(), 0)
        self._loop.call_later(delay_ms / 1000, self._commit_due)

    def _commit_due(self) -> None:
        self._commit_timer = False
        self._notify()

    def _joining(self) -> bool:
        return self.driver is not None and self.driver.member.joining

    def _wake_parts(self) -> None:
        self._wake_due = False
        self.fetcher.wake()
        self.keeper.wake()
        if self.driver is not None:
            self.driver.wake()

    async def _until_soon(self, wait: Awaitable[object]) -> None:
        try:
            async with asyncio.timeout(0.1):
                await wait
        except TimeoutError:
            pass
