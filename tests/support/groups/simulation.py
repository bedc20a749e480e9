"""A world of classic consumers around one coordinator, driven by one seed.

Virtual time, one event queue. Requests and replies are lost, late or doubled; appends fail; the
coordinator is replaced by one that reads the log; members crash, come back and leave. Then the
world heals, and the group must become stable in bounded time. Checked on the way:

- one owner per partition and generation, from the assignments the coordinator hands out;
- a commit that was acknowledged is applied, reads follow the log, and no generation's commit
  is applied after one of a later generation;
- every request is answered at most once (the driver checks), and after the heal exactly once.
"""

import heapq
import random
from itertools import count

from support.groups.driver import Answer, GroupDriver, image
from support.groups.simulation_member import (
    PARTITIONS,
    REBALANCE_MS,
    SESSION_MS,
    SimulatedMember,
)

from barnabas.groups.requests import (
    HeartbeatRequest,
    JoinGroupRequest,
    LeaveGroupRequest,
    OffsetCommitRequest,
    SyncGroupRequest,
)
from barnabas.groups.step import GroupConfig
from barnabas.model.error_codes import ErrorCode

CHAOS_MS = 120_000
APPEND_FAILURES = (
    ErrorCode.NOT_ENOUGH_REPLICAS,
    ErrorCode.REQUEST_TIMED_OUT,
    ErrorCode.KAFKA_STORAGE_ERROR,
)


class GroupSimulation:
    """`SimulatedMember`s talk to it through `send`; it owns time, network and the checks."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        config = GroupConfig(initial_rebalance_delay_ms=self.random.choice([0, 1_000, 3_000]))
        self.driver = GroupDriver(config, image(t=PARTITIONS), now_ms=0)
        self.chaotic = True
        self._queue = []
        self._order = count()
        self._loss = self.random.choice([0.0, 0.03, 0.15])
        self._append_failure = self.random.choice([0.0, 0.1, 0.3])
        self.owners = {}  # (generation, partition) -> owner
        self.applied = {}  # partition -> (generation, offset)
        self.ever_applied = set()  # (partition, offset)
        self.acknowledged = 0
        self.members = [
            SimulatedMember(self, f"m{n}", static=self.random.random() < 0.3)
            for n in range(self.random.randint(1, 10))
        ]

    # Time

    @property
    def now(self):
        return self.driver.now_ms

    def at(self, delay_ms, action):
        heapq.heappush(self._queue, (self.now + delay_ms, next(self._order), action))

    def run_until(self, end_ms, condition=lambda: False):
        """Processes events in order until the time or the condition; returns whether the
        condition is true.
        """
        while not condition():
            next_event = self._queue[0][0] if self._queue else end_ms + 1
            next_timer = self.driver.next_deadline()
            at = min(next_event, next_timer if next_timer is not None else next_event)
            if at > end_ms:
                self.driver.now_ms = end_ms
                return False
            self.driver.now_ms = max(self.now, at)
            if at == next_event:
                heapq.heappop(self._queue)[2]()
            else:
                self._maybe_fail_append()
                self.driver.fire_due()
        return True

    # Network

    def send(self, member, request, on_reply):
        """Deliver a request, never, once or twice; the reply likewise at most once each."""
        copies = 1
        if self.chaotic:
            roll = self.random.random()
            copies = 0 if roll < self._loss else 2 if roll < 2 * self._loss else 1
        for _ in range(copies):
            self.at(self._delay(), lambda: self._deliver(member, request, on_reply))

    def _delay(self):
        late = self.chaotic and self.random.random() < self._loss
        return self.random.randint(1, 25_000 if late else 30)

    def _deliver(self, member, request, on_reply):
        answer = _Reply(lambda reply: self._answered(member, request, reply, on_reply))
        self._maybe_fail_append()
        self.driver.run(self._call(request), answer)

    def _call(self, request):
        shard, now = self.driver.shard, self.now
        match request:
            case JoinGroupRequest():
                return shard.join_group(request, now)
            case SyncGroupRequest():
                return shard.sync_group(request, now)
            case HeartbeatRequest():
                return shard.heartbeat(request, now)
            case LeaveGroupRequest():
                return shard.leave_group(request, now)
            case OffsetCommitRequest():
                return shard.commit_offsets(request, now)

    def _answered(self, member, request, reply, on_reply):
        self._check_answer(member, request, reply)
        if not (self.chaotic and self.random.random() < self._loss):
            self.at(self._delay(), lambda: on_reply(reply))

    def _maybe_fail_append(self):
        self.driver.fail_next = None
        if self.chaotic and self.random.random() < self._append_failure:
            self.driver.fail_next = self.random.choice(APPEND_FAILURES)

    # Checks

    def _check_answer(self, member, request, reply):
        match request:
            case SyncGroupRequest() if reply.error_code is ErrorCode.NONE:
                self._check_owner(member, request, reply)
            case OffsetCommitRequest():
                self._check_commit(request, reply)

    def _check_owner(self, member, request, reply):
        owner = member.name if member.static else request.member_id
        for partition in reply.assignment:
            key = (request.generation_id, partition)
            previous = self.owners.setdefault(key, owner)
            assert previous == owner, f"{key} is owned by {previous} and {owner}"

    def _check_commit(self, request, reply):
        for one, (partition, code) in zip(request.offsets, reply.partitions, strict=True):
            if code is not ErrorCode.NONE:
                continue
            generation, _ = self.applied.get(partition, (-1, 0))
            assert request.generation_id >= generation, "a commit of an older generation"
            self.applied[partition] = (request.generation_id, one.offset)
            self.ever_applied.add((partition, one.offset))
        self.check_committed()

    def check_committed(self):
        for partition, (_, offset) in self.applied.items():
            assert self.driver.committed(topic_partition=partition).offset == offset

    def acked(self, partition, offset):
        """A member has the response, so the offset must be committed."""
        assert (partition, offset) in self.ever_applied
        self.acknowledged += 1

    # Events

    def start(self):
        for member in self.members:
            self.at(self.random.randint(0, 3_000), member.start)
        for _ in range(self.random.randint(0, 12)):
            self.at(self.random.randint(0, CHAOS_MS), self._crash_one)
        for _ in range(self.random.choice([0, 0, 1, 3, 6])):
            self.at(self.random.randint(0, CHAOS_MS), self.reload)

    def reload(self):
        """Another broker takes over from the log."""
        self.driver.reload(compacted=self.random.random() < 0.5)
        self.check_committed()

    def _crash_one(self):
        member = self.random.choice(self.members)
        if self.random.random() < 0.5:
            member.leave()
        member.crash()
        self.at(self.random.randint(100, 20_000), member.start)

    def heal(self):
        """From now on messages arrive once and quickly; messages in flight are lost."""
        self.chaotic = False
        self._queue.clear()
        for member in self.members:
            member.after_heal()

    def is_stable(self):
        generations = {member.generation for member in self.members}
        owned = sorted(p for member in self.members for p in member.assignment or ())
        return (
            self.driver.state() == "Stable"
            and all(member.is_stable for member in self.members)
            and len(generations) == 1
            and owned == list(range(PARTITIONS))
        )


class _Reply(Answer):
    """Calls back instead of keeping the reply."""

    def __init__(self, callback):
        super().__init__()
        self._callback = callback

    def set(self, reply):
        super().set(reply)
        self._callback(reply)


def simulate(seed):
    """Chaos, heal, stability; gives the finished simulation."""
    world = GroupSimulation(seed)
    world.start()
    world.run_until(CHAOS_MS)
    world.heal()
    deadline = world.now + SESSION_MS + REBALANCE_MS + 5_000
    assert world.run_until(deadline, world.is_stable), f"not stable {deadline - CHAOS_MS} ms on"
    world.run_until(world.now + 8_000)
    assert world.is_stable(), "a healthy group does not rebalance"
    before = world.driver.shard.describe_group("g")
    world.driver.reload(compacted=True)
    assert world.driver.shard.describe_group("g") == before
    world.check_committed()
    world.run_until(world.now + 8_000)
    assert world.is_stable(), "a new coordinator is no reason to rebalance"
    return world
