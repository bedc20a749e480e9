"""A whole run: two producers, three partitions, one coordinator, and the checks at its end."""

from collections import Counter
from dataclasses import dataclass

from support.transactions.leader import PartitionLeader
from support.transactions.node import CoordinatorNode
from support.transactions.partition import MarkerEntry, ModelPartition
from support.transactions.producer import Journal, ProducerHost, ProducerProcess, Transaction
from support.transactions.world import World

from barnabas.model.ids import TopicPartition
from barnabas.transactions.metadata import TransactionState, Transition, encode_key, encode_value
from barnabas.transactions.requests import ListTransactions, TransactionConfig, TransactionGuards

TIMEOUT_MS = 1500
ACTIVE_MS = 4_000
SETTLING_MS = 3_000
HEALED_MS = 20_000


@dataclass(frozen=True)
class Plan:
    """The parameters of a run."""

    seed: int
    version: int = 2
    same_id: bool = False
    crash_chance: float = 0.01
    crash_at: int | None = None
    faults: float = 0.1
    guards: TransactionGuards | None = None
    verify: bool = True
    active_ms: int = ACTIVE_MS
    first_epoch: int = 0
    mixed: bool = False
    """Each incarnation of a producer is an old or a new client, as during an upgrade."""


class Simulation:
    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.world = World(plan.seed, late=plan.version >= 2 and not plan.mixed, faults=plan.faults)
        names = [TopicPartition("t", number) for number in range(3)]
        self.partitions = {name: ModelPartition(name, verify=plan.verify) for name in names}
        config = TransactionConfig(
            transaction_version=plan.version, abort_scan_interval_ms=500, marker_retry_backoff_ms=50
        )
        self.node = CoordinatorNode(self.world, self.partitions, config, plan.guards)
        self.leaders = {
            name: PartitionLeader(self.world, partition, self.node)
            for name, partition in self.partitions.items()
        }
        self.journal = Journal()
        ids = ["same", "same"] if plan.same_id else ["one", "two"]
        self.hosts = [self._host(transactional_id) for transactional_id in ids]
        self.eventful = 0
        """Events until little was left to do: where a crash is worth trying."""
        self._age(set(ids))

    def _host(self, transactional_id: str) -> ProducerHost:
        def make() -> ProducerProcess:
            version = self.world.rng.choice([1, 2]) if self.plan.mixed else self.plan.version
            return ProducerProcess(transactional_id, version, self.node, self.leaders, self.journal)

        return ProducerHost(self.world, make, TIMEOUT_MS)

    def _age(self, ids: set[str]) -> None:
        """Let the ids have used up most of their epochs."""
        if self.plan.first_epoch:
            for number, transactional_id in enumerate(sorted(ids)):
                old = Transition(
                    TransactionState.EMPTY, number, self.plan.first_epoch, TIMEOUT_MS, 0
                )
                self.node.log.append((encode_key(transactional_id), encode_value(old, 2)))

    def run(self) -> "Simulation":
        self.node.start()
        self.world.before_event = self._maybe_crash
        for host in self.hosts:
            host.spawn(3)
        self.world.run_until(self.plan.active_ms)
        self.world.heal()
        for host in self.hosts:
            host.stopping = True
        self.world.run_until(self.plan.active_ms + SETTLING_MS)
        self.eventful = self.world.events
        self.world.run_until(self.plan.active_ms + HEALED_MS)
        return self

    def _maybe_crash(self, event: int) -> None:
        if self.plan.crash_at is not None:
            due = event == self.plan.crash_at
        else:
            due = self.world.faults > 0 and self.world.rng.random() < self.plan.crash_chance
        if due:
            self.node.crash()

    # ---------------------------------------------------------------- checks

    def problems(self) -> list[str]:
        """Everything that broke a promise, in words."""
        visible = self._visible()
        found = [
            f"{value} is visible {count} times" for value, count in visible.items() if count > 1
        ]
        for transaction in self.journal.transactions:
            found += _check_transaction(transaction, visible)
        found += self._marker_problems() + self._stuck()
        if self.node.zombie_commits:
            found.append(f"{self.node.zombie_commits} commits of fenced producers were accepted")
        return found

    def _visible(self) -> Counter[object]:
        return Counter(
            value for partition in self.partitions.values() for value in partition.read_committed()
        )

    def _marker_problems(self) -> list[str]:
        counts = Counter(
            (name, entry.transactional_id, entry.transaction)
            for name, partition in self.partitions.items()
            for entry in partition.log
            if isinstance(entry, MarkerEntry)
        )
        return [f"{key} has {count} markers" for key, count in counts.items() if count > 1]

    def _stuck(self) -> list[str]:
        shard = self.node.shard
        assert shard is not None
        listed = shard.list_transactions(ListTransactions(), self.world.now_ms).transactions
        return [
            f"{listing.transactional_id} is left in {listing.state.label}"
            for listing in listed
            if not listing.state.is_idle
        ] + [
            f"{name}: LSO {partition.last_stable_offset} of {len(partition.log)}"
            for name, partition in self.partitions.items()
            if partition.last_stable_offset != len(partition.log)
        ]

    @property
    def fates(self) -> Counter[str | None]:
        return Counter(transaction.fate for transaction in self.journal.transactions)


def _check_transaction(transaction: Transaction, visible: Counter[object]) -> list[str]:
    values = [value for written in transaction.written.values() for value in written]
    seen = [value for value in values if visible[value]]
    others = [
        value
        for value in visible
        if isinstance(value, tuple) and value[0] == transaction.name and value not in values
    ]
    name, fate = transaction.name, transaction.fate
    if seen and len(seen) < len(values):
        return [f"{name} ({fate}) is torn: {len(seen)} of {len(values)} values visible"]
    if fate == "committed" and len(seen) < len(values):
        return [f"{name} was committed and is not visible"]
    if (fate == "aborted" or not transaction.commit_sent) and (seen or others):
        return [f"{name} ({fate}) must not be visible"]
    if others:
        return [f"{name} shows values its producer gave up: {others}"]
    return []
