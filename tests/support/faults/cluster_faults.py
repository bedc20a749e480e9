"""Faults of a `NamespaceCluster`, one at a time: a majority of brokers and of ZooKeeper is healthy.

Every fault is a context manager that heals at its end, and yields what shows that it happened: a
function without arguments that becomes true during the fault.
"""

import errno
import random
import signal
from collections import Counter
from contextlib import contextmanager

from support.cluster.workload import leader_in_zookeeper, state_in_zookeeper
from support.faults.namespace_cluster import BROKERS, PORT

HOUR_MS = 3_600_000
STOPS_WRITING = "isolated_leader"
"""The kind in which no majority of the replicas is in touch; waits during it are not limited."""
_KEEPER_PORT = 2181


class Faults:
    """Chooses by seed, among all kinds or those named.

    `counts` says how often each kind happened, `waits` the longest wait of each writer during it.
    """

    def __init__(self, cluster, topic, seed, named=()):
        self._cluster = cluster
        self._topic = topic
        self._rng = random.Random(seed)
        self._named = named
        self.counts = Counter()
        self.waits = {}

    def kinds(self):
        """Every kind once, in another order at every call."""
        kinds = [
            self.leader_to_follower,
            self.follower_to_leader,
            self.isolated_leader,
            self.broker_to_zookeeper,
            self.zookeeper_to_broker,
            self.full_disk,
            self.broken_disk,
            self.killed_keeper,
            self.keeper_cut_off,
            self.clock_jump,
            self.killed_leader,
            self.hung_leader,
        ]
        self._rng.shuffle(kinds)
        return [kind for kind in kinds if not self._named or kind.__name__ in self._named]

    def note(self, kind, writers):
        """Counts a fault that has ended, and how long the writers waited because of it."""
        name = kind.__name__
        self.counts[name] += 1
        waits = self.waits.setdefault(name, {})
        for writer in writers:
            waited = round(writer.acknowledged.longest_wait, 1)
            waits[writer.letter] = max(waited, waits.get(writer.letter, 0.0))
            writer.acknowledged.longest_wait = 0.0

    def _leader(self):
        return leader_in_zookeeper(self._cluster, self._topic, self._rng.randrange(3))

    def _others(self, number):
        return [f"b{other}" for other in BROKERS if other != number]

    def _is_replaced(self, number):
        return lambda: leader_in_zookeeper(self._cluster, self._topic) not in (-1, number)

    def _in_sync_set_is_smaller(self):
        topic = self._topic
        return lambda: any(
            len(state_in_zookeeper(self._cluster, topic, n)["isr"]) < len(BROKERS) for n in range(3)
        )

    @contextmanager
    def _cut(self, links, port):
        network = self._cluster.network
        for sender, receiver in links:
            network.cut(sender, receiver)
        try:
            assert not network.connects(*links[0], port), "the cut lets a connection through"
            yield
        finally:
            for sender, receiver in links:
                network.heal(sender, receiver)

    # -- silent one-way cuts -------------------------------------------------------------------

    @contextmanager
    def leader_to_follower(self):
        leader = self._leader()
        links = [(f"b{leader}", self._rng.choice(self._others(leader)))]
        with self._cut(links, PORT):
            yield self._in_sync_set_is_smaller()

    @contextmanager
    def follower_to_leader(self):
        leader = self._leader()
        links = [(self._rng.choice(self._others(leader)), f"b{leader}")]
        with self._cut(links, PORT):
            yield self._in_sync_set_is_smaller()

    @contextmanager
    def isolated_leader(self):
        """The leader's packets reach no follower, but it keeps its session: writes stop until
        the end.
        """
        leader = self._leader()
        links = [(f"b{leader}", other) for other in self._others(leader)]
        with self._cut(links, PORT):
            yield self._in_sync_set_is_smaller()

    @contextmanager
    def broker_to_zookeeper(self):
        leader = self._leader()
        links = [(f"b{leader}", f"z{n}") for n in BROKERS]
        with self._cut(links, _KEEPER_PORT):
            yield self._in_sync_set_is_smaller()

    @contextmanager
    def zookeeper_to_broker(self):
        leader = self._leader()
        links = [(f"z{n}", f"b{leader}") for n in BROKERS]
        with self._cut(links, PORT):
            yield self._in_sync_set_is_smaller()

    # -- disks and clocks ----------------------------------------------------------------------

    @contextmanager
    def full_disk(self):
        broker = self._leader()
        before = self._cluster.log_text(broker).count("writes fail")
        self._cluster.set_faults(broker, errno=errno.ENOSPC)
        try:
            yield lambda: self._cluster.log_text(broker).count("writes fail") > before
        finally:
            self._cluster.set_faults(broker)

    @contextmanager
    def broken_disk(self):
        """One of two directories fails; the broker is restarted with a new disk."""
        broker = self._leader()
        self._cluster.set_faults(broker, errno=errno.EIO, below="/one/")
        try:
            yield self._in_sync_set_is_smaller()
        finally:
            self._cluster.set_faults(broker)
            self._cluster.stop(broker)
            self._cluster.start(broker)

    @contextmanager
    def clock_jump(self):
        """The wall clock of a broker is an hour ahead or behind, and jumps back."""
        broker = self._rng.choice(BROKERS)
        self._cluster.set_faults(broker, clock_ms=self._rng.choice((HOUR_MS, -HOUR_MS)))
        try:
            yield lambda: self._cluster.faults_in_force(broker)
        finally:
            self._cluster.set_faults(broker)

    # -- ZooKeeper -----------------------------------------------------------------------------

    @contextmanager
    def killed_keeper(self):
        """The leader of the ensemble: the others elect another."""
        keepers = self._cluster.keepers
        victim = next(keeper for keeper in keepers if keeper.mode == "leader")
        victim.kill()
        try:
            yield lambda: any(k.mode == "leader" for k in keepers if k is not victim)
        finally:
            victim.start()
            victim.wait_until_serving()

    @contextmanager
    def keeper_cut_off(self):
        """One member receives packets of the others, but its own are lost."""
        victim = self._rng.choice(BROKERS)
        links = [(f"z{victim}", f"z{n}") for n in BROKERS if n != victim]
        others = [k for k in self._cluster.keepers if k.host != f"z{victim}"]
        with self._cut(links, 2888):
            yield lambda: any(k.mode == "leader" for k in others)

    # -- processes -----------------------------------------------------------------------------

    @contextmanager
    def killed_leader(self):
        leader = self._leader()
        self._cluster.kill(leader)
        try:
            yield self._in_sync_set_is_smaller()
        finally:
            self._cluster.start(leader)

    @contextmanager
    def hung_leader(self):
        leader = self._leader()
        self._cluster.brokers[leader].signal(signal.SIGSTOP)
        try:
            yield self._in_sync_set_is_smaller()
        finally:
            self._cluster.brokers[leader].signal(signal.SIGCONT)
