"""One seeded run: a cluster, producers, faults; after the faults end, all replicas must converge.

A run proves something only if it saw acknowledgements, faults and changes of leader; the report
says how many.
"""

import asyncio
import random
from dataclasses import dataclass, field

from support.simulation.checker import Checker, InvariantError
from support.simulation.nemesis import Nemesis
from support.simulation.network import Network
from support.simulation.replica_host import Stop
from support.simulation.sim_broker import SimBroker, client_call
from support.simulation.virtual_loop import LoopClock, run

from barnabas.controller.registration import ensure_roots
from barnabas.controller.topic_admin import TopicAdmin
from barnabas.model.errors import BarnabasError
from barnabas.model.ids import TopicPartition, Uuid
from barnabas.replication.safety_rules import DEFAULT_RULES, UncleanStartPolicy
from barnabas.zk.sqlite_tree import EmbeddedStore

TOPIC = "orders"


@dataclass(frozen=True)
class Plan:
    """The kind of cluster, and the faults that may occur."""

    brokers: int = 3
    partitions: int = 1
    min_insync: int = 2
    stops: tuple = (Stop.KILL, Stop.KILL, Stop.CLEAN)
    policy: UncleanStartPolicy = UncleanStartPolicy.DECLINE
    fsync: bool = False
    rules: object = DEFAULT_RULES
    fault_s: float = 6.0
    session_timeout_s: float = 0.6
    max_lag_ms: int = 900


@dataclass
class Report:
    """The events of a run."""

    seed: int
    acknowledged: int = 0
    refused: int = 0
    leader_changes: int = 0
    faults: dict = field(default_factory=dict)
    healed_in_s: float = -1.0
    given_up: int = 0


class World:
    """Everything of one run."""

    def __init__(self, seed, plan, loop):
        self.seed, self.plan, self.loop = seed, plan, loop
        self.dice = random.Random(seed)
        self.clock = LoopClock(loop)
        self.network = Network(self.dice)
        self.store = EmbeddedStore(self.clock)
        self.partitions = [TopicPartition(TOPIC, n) for n in range(plan.partitions)]
        self.checker = Checker(self)
        self.brokers = {n: self._broker(n) for n in range(1, plan.brokers + 1)}
        self.report = Report(seed)
        self._sent = 0
        self._sends = set()

    def _broker(self, broker_id):
        plan = self.plan
        settings = {
            "max_lag_ms": plan.max_lag_ms,
            "min_insync_of": lambda _: plan.min_insync,
            "request_lifetime_ms": 8_000,
        }
        if plan.fsync:
            settings["request_flush"] = self._flush_later
        return SimBroker(broker_id, self, rules=plan.rules, policy=plan.policy, **settings)

    def _flush_later(self, partition):
        ticket = partition.flush_ticket()
        self.loop.call_later(self.dice.uniform(0.001, 0.02), self._flush, partition, ticket)

    def _flush(self, partition, ticket):
        broker = self.brokers[partition.settings.broker_id]
        if broker.host.partition(partition.topic_partition) is partition:
            partition.log.flush_to(ticket.end_offset)
            partition.flushed(ticket)
            broker.pool.wake(partition)

    # --- the run ---

    async def play(self):
        await self._set_up()
        producers = [self.loop.create_task(self._produce()) for _ in range(2)]
        nemesis = Nemesis(self)
        await nemesis.run(self.plan.fault_s)
        await nemesis.quiet()
        began = self.loop.time()
        while not self._is_whole():
            if self.loop.time() - began > 60:
                self._explain()
            await asyncio.sleep(0.25)
        for producer in producers:
            producer.cancel()
        await asyncio.sleep(1.5)
        while not self._agree():
            if self.loop.time() - began > 90:
                self._explain()
            await asyncio.sleep(0.25)
        self.report.healed_in_s = self.loop.time() - began
        self.report.faults = nemesis.faults
        self.report.given_up = sum(
            self.checker.state(topic_partition).leader < 0 for topic_partition in self.partitions
        )
        self.report.leader_changes = self.checker.leader_changes
        self.report.acknowledged = sum(len(a) for a in self.checker.acknowledged.values())
        return self.report

    async def _set_up(self):
        session = self.store.session()
        await ensure_roots(session)
        for broker in self.brokers.values():
            await broker.start()
        ids = list(self.brokers)
        assignment = {
            n: tuple(ids[(n + k) % len(ids)] for k in range(3)) for n in range(self.plan.partitions)
        }
        await asyncio.sleep(0.2)
        await TopicAdmin(session).create_topic(
            TOPIC, assignment, topic_id=Uuid(b"0123456789abcdef")
        )
        await session.close()

    async def _produce(self):
        while True:
            await asyncio.sleep(self.dice.uniform(0.0, 0.1))
            if not await self._send_one():
                await asyncio.sleep(0.1)

    def produce_one(self):
        """Sends one record without waiting for the result."""
        self._sends.add(task := self.loop.create_task(self._send_one()))
        task.add_done_callback(self._sends.discard)

    async def _send_one(self):
        self._sent += 1
        value = self._sent
        topic_partition = self.dice.choice(self.partitions)
        leaders = [broker for broker in self.brokers.values() if broker.leads(topic_partition)]
        target = self.dice.choice(leaders or list(self.brokers.values()))
        try:
            await client_call(self, target, lambda broker: broker.produce(topic_partition, value))
        except BarnabasError:
            self.report.refused += 1
            return False
        return True

    # --- the end ---

    def _is_whole(self):
        return all(self._partition_is_whole(topic_partition) for topic_partition in self.partitions)

    def _partition_is_whole(self, topic_partition):
        state = self.checker.state(topic_partition)
        if state is None:
            return False
        if state.leader < 0:
            return self._is_given_up(topic_partition, state)
        leader = self.brokers[state.leader].host.partition(topic_partition)
        return (
            leader is not None and leader.is_leader and len(leader.isr) == len(leader.replicas) == 3
        )

    def _is_given_up(self, topic_partition, state):
        """Whether all who could lead may lack records and say so: a person has to decide."""
        return all(
            topic_partition in self.brokers[member].host.manager.declined for member in state.isr
        )

    def _agree(self):
        for topic_partition in self.partitions:
            if self.checker.state(topic_partition).leader < 0:
                continue
            # A broker that was down during a reassignment keeps a copy that is not used.
            leader = self.brokers[self.checker.state(topic_partition).leader].host.partition(
                topic_partition
            )
            logs = [self.brokers[member].host.log(topic_partition) for member in leader.replicas]
            ends = {(log.log_end_offset, log.high_watermark) for log in logs}
            if len(ends) != 1 or len(set(ends.pop())) != 1:
                return False
            if any(log.entries != logs[0].entries for log in logs):
                raise InvariantError(f"seed {self.seed}: replicas of {topic_partition} differ")
        return True

    def _explain(self):
        lines = [f"seed {self.seed}: no convergence"]
        for topic_partition in self.partitions:
            lines.append(f"  {topic_partition}: {self.checker.state(topic_partition)}")
            lines += [
                f"    {b.broker_id}: {b.host.partition(topic_partition)!r}"
                for b in self.brokers.values()
            ]
        raise InvariantError("\n".join(lines))


def simulate(seed, plan=None):
    """Run one seed to its end; AssertionError when an invariant broke or nothing converged."""
    holder = {}

    def check():
        if "world" in holder:
            holder["world"].checker.check_tree()

    async def main(loop):
        world = holder["world"] = World(seed, plan or Plan(), loop)
        report = await world.play()
        _raise_failures(loop.failures)
        return report

    return run(main, check)


def _raise_failures(failures):
    """Exceptions that ended a task or a callback unseen."""
    for context in failures:
        if isinstance(context.get("exception"), BaseException):
            raise context["exception"]
