"""A cluster moved by hand: the test decides each election, message, fetch and crash.

For replaying named histories. The controller is the test: `elect` writes the new state and sends
it to whom the test says. A record counts as acknowledged as soon as a leader would say so.
"""

from support.cluster.replicas import TOPIC_ID, TP
from support.simulation.replica_host import ReplicaHost, Stop

from barnabas.model.control import AlterPartitionReply, LeaderAndIsrCommand, PartitionState
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BrokerError
from barnabas.model.records import LATEST_TIMESTAMP
from barnabas.replication import partition_reader
from barnabas.replication.fetcher import ReplicaFetcher
from barnabas.replication.partition_reader import list_offset
from barnabas.replication.ports import (
    FetchedPartition,
    FetchSpec,
    LeaderOffsets,
    ReplicaFetchLimits,
    ReplicaFetchPlan,
)
from barnabas.testing.virtual_clock import VirtualClock

BATCH = 2
"""Records per fetch: small, so that watermarks lag behind as they do in life."""


class _Fetchers:
    """The FollowerControl of one broker: a fetcher per leader, polled by hand."""

    def __init__(self):
        self.by_source = {}

    def follow(self, partition):
        self.unfollow(partition.topic_partition)
        source = partition.leader
        fetcher = self.by_source.setdefault(source, ReplicaFetcher(source, ReplicaFetchLimits()))
        fetcher.add(partition)

    def unfollow(self, topic_partition):
        for fetcher in self.by_source.values():
            fetcher.remove(topic_partition)


class Laboratory:
    """Brokers 1 to n with one partition on all of them."""

    def __init__(self, brokers=2, *, min_insync=1, **host_settings):
        self.clock = VirtualClock(monotonic_ms=1_000)
        settings = {"max_lag_ms": 1_000, "min_insync_of": lambda _topic: min_insync}
        self.hosts = {
            n: ReplicaHost(n, self.clock, **settings, **host_settings)
            for n in range(1, brokers + 1)
        }
        self.fetchers = {}
        self.state = None
        self.waiting = []  # (broker, required offset, value)
        self.acknowledged = []
        for broker in self.hosts:
            self.start(broker)

    # --- brokers ---

    def start(self, broker):
        self.fetchers[broker] = _Fetchers()
        self.hosts[broker].start(self, self.fetchers[broker], lambda: -1)

    def stop(self, broker, how=Stop.KILL):
        self.hosts[broker].stop(how)
        self.waiting = [item for item in self.waiting if item[0] != broker]

    # --- the controller's part ---

    def elect(self, leader, isr, *, tell=None, **fields):
        """Writes a new epoch and sends it to the brokers in `tell`; returns the leader's reply,
        if any.
        """
        known = self.state
        self.state = PartitionState(
            topic_partition=TP, topic_id=TOPIC_ID, leader=leader, isr=tuple(isr),
            leader_epoch=0 if known is None else known.leader_epoch + 1,
            partition_epoch=0 if known is None else known.partition_epoch + 1,
            replicas=tuple(self.hosts), **fields,
        )  # fmt: skip
        up = [broker for broker, host in self.hosts.items() if host.is_up]
        answers = {broker: self.tell(broker) for broker in (up if tell is None else tell)}
        return answers.get(leader)

    def tell(self, broker):
        """Send the state in force to one broker."""
        host = self.hosts[broker]
        command = LeaderAndIsrCommand(9, 1, -1, (self.state,))
        reply = host.manager.apply_leader_and_isr(command)
        self._settle_acknowledgements()
        return reply.partitions[TP]

    def alter_partition(self, change, on_reply):
        """As IsrChannel: accept what fits the state in force, as the controller would."""
        known = self.state
        if (change.leader_epoch, change.partition_epoch) != (
            known.leader_epoch,
            known.partition_epoch,
        ):
            on_reply(AlterPartitionReply(ErrorCode.INVALID_UPDATE_VERSION))
            return
        epoch = known.partition_epoch + 1
        self.state = PartitionState(
            topic_partition=TP, topic_id=TOPIC_ID, leader=known.leader, isr=change.new_isr,
            leader_epoch=known.leader_epoch, partition_epoch=epoch, replicas=known.replicas,
        )  # fmt: skip
        on_reply(
            AlterPartitionReply(
                ErrorCode.NONE, known.leader, known.leader_epoch, change.new_isr, epoch
            )
        )

    # --- clients ---

    def produce(self, broker, *values, acks=-1):
        """Appends at the broker that the producer takes for the leader; returns the error, if
        any.
        """
        partition = self.hosts[broker].partition(TP)
        for value in values:
            try:
                info = partition.append_to_leader(
                    [value], None, acks=acks, now_ms=self.clock.now_ms(), origin=None
                )
            except BrokerError as error:
                return error.code
            if acks == -1:
                self.waiting.append((broker, info.last_offset + 1, value))
        self._settle_acknowledgements()
        return ErrorCode.NONE

    def _settle_acknowledgements(self):
        for item in list(self.waiting):
            broker, required, value = item
            status = self.hosts[broker].partition(TP).ack_status(required, -1)
            if status is not None:
                self.waiting.remove(item)
            if status is ErrorCode.NONE:
                self.acknowledged.append(value)

    # --- followers ---

    def fetch(self, follower, rounds=1, *, lose_answer=False):
        """Runs one fetch of a follower and applies the response."""
        for _ in range(rounds):
            for source, fetcher in self.fetchers[follower].by_source.items():
                plan = fetcher.poll(self.clock.monotonic_ms())
                if isinstance(plan, ReplicaFetchPlan):
                    answers = [self._serve_one(follower, source, item) for item in plan.partitions]
                    if not lose_answer:
                        fetcher.handle_fetched(plan, answers, self.clock.monotonic_ms())
                elif plan is not None:
                    bounds = self._bounds(source, plan)
                    fetcher.handle_offsets(plan, bounds, self.clock.monotonic_ms())
            self._settle_acknowledgements()
            self.clock.advance(10)

    def _serve_one(self, follower, source, item):
        spec = FetchSpec(
            item.offset, BATCH, current_leader_epoch=item.leader_epoch, replica_id=follower,
            last_fetched_epoch=item.last_fetched_epoch, log_start_offset=item.log_start_offset,
        )  # fmt: skip
        partition = self.hosts[source].partition(TP)
        if partition is None:
            return FetchedPartition(TP, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
        try:
            read = partition_reader.read(partition, spec)
        except BrokerError as error:
            return FetchedPartition(TP, error.code)
        return FetchedPartition(
            TP, ErrorCode.NONE, read.high_watermark, read.log_start_offset, read.slice or [],
            read.diverging_epoch,
        )  # fmt: skip

    def _bounds(self, source, plan):
        partition = self.hosts[source].partition(TP)
        end = list_offset(partition, LATEST_TIMESTAMP, isolation=None).offset
        return [
            LeaderOffsets(TP, ErrorCode.NONE, partition.log.log_start_offset, end)
            for _ in plan.partitions
        ]

    # --- results ---

    def values(self, broker):
        return self.hosts[broker].log(TP).values()

    def watermark(self, broker):
        return self.hosts[broker].log(TP).high_watermark

    def lost(self, leader):
        """Acknowledged records that this leader does not have."""
        held = set(self.values(leader))
        return [value for value in self.acknowledged if value not in held]
