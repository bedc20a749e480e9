"""KIP-848 groups under any order of events: no partition has two owners.

Clients of both protocols join, revoke at their own pace, lose requests and replies, crash and
leave; appends fail, coordinators are replaced, topics grow. After every step, the
coordinator has assigned to each member all partitions that this member may still own, and no
partition is assigned to two members. At the end no more failures occur, and every partition gets
an owner.
"""

from dataclasses import dataclass, field

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from support.groups.driver import GroupDriver, image, subscription, topic_id

from barnabas.groups.classic.group import decode_assignment
from barnabas.groups.consumer.group import ConsumerGroup
from barnabas.groups.requests import Protocol
from barnabas.model.error_codes import ErrorCode as E

TOPICS = st.sampled_from([("t",), ("u",), ("t", "u")])
NAMES = st.sampled_from("abcde")


@dataclass
class Client:
    """`owned` is all it may be reading; `offered` what the coordinator last gave it."""

    name: str
    member_id: str
    topics: tuple
    instance: str | None
    classic: bool
    epoch: int = 0
    owned: set = field(default_factory=set)
    offered: set = field(default_factory=set)
    tell_all: bool = True

    def finish_revoking(self):
        self.owned &= self.offered

    def take(self, offered):
        """Assigned partitions may be read at once; others until they are revoked."""
        self.offered = set(offered)
        self.owned |= self.offered

    def abandon(self):
        self.owned, self.offered = set(), set()
        self.epoch, self.tell_all = 0, True

    def owned_by_topic(self):
        topics = {topic for topic, _ in self.owned}
        return {t: sorted(n for topic, n in self.owned if topic == t) for t in topics}


class Reconciliation(RuleBasedStateMachine):
    @initialize()
    def start_world(self):
        self.counts = {"t": 4, "u": 3}
        self.driver = GroupDriver(topics=image(**self.counts))
        self.clients = {}
        self.serial = 0
        for name in "ab":
            self.start(name, ("t", "u"), static=False, classic=False)

    # Events

    @rule(name=NAMES, topics=TOPICS, static=st.booleans(), classic=st.booleans())
    def start(self, name, topics, static, classic):
        if name in self.clients or (classic and self.group() is None):
            return
        self.serial += 1
        member_id = "" if classic and static else f"{name}{self.serial}"
        instance = name if static else None
        self.clients[name] = Client(name, member_id, topics, instance, classic)
        self.beat(self.clients[name])

    @rule(name=NAMES, finish=st.booleans(), reply_lost=st.booleans())
    def heartbeat(self, name, finish, reply_lost):
        if name in self.clients:
            if finish:
                self.clients[name].finish_revoking()
            self.beat(self.clients[name], reply_lost=reply_lost)

    @rule(finish=st.booleans())
    def everybody_beats(self, finish):
        for name in sorted(self.clients):
            self.heartbeat(name, finish, reply_lost=False)

    @rule(name=NAMES, topics=TOPICS)
    def resubscribe(self, name, topics):
        if name in self.clients:
            self.clients[name].topics = topics
            self.clients[name].tell_all = True
            self.beat(self.clients[name])

    @rule(name=NAMES)
    def leave(self, name):
        client = self.clients.pop(name, None)
        if client is None:
            return
        if client.classic:
            self.driver.leave(client.member_id)
        else:
            epoch = -2 if client.instance is not None else -1
            self.driver.consumer_heartbeat(client.member_id, epoch, instance_id=client.instance)

    @rule(name=NAMES)
    def crash(self, name):
        self.clients.pop(name, None)

    @rule(delay=st.sampled_from([1_000, 20_000, 46_000]))
    def wait(self, delay):
        """A client that sent nothing during its session timeout drops its partitions."""
        self.driver.advance(delay)
        group = self.group()
        for client in self.clients.values():
            if group is not None and client.member_id not in group.members:
                client.abandon()

    @rule(code=st.sampled_from([E.NOT_ENOUGH_REPLICAS, E.NOT_LEADER_OR_FOLLOWER]))
    def fail_next_append(self, code):
        self.driver.fail_next = code

    @rule(compacted=st.booleans())
    def replace_coordinator(self, compacted):
        self.driver.reload(compacted=compacted)

    @precondition(lambda self: sum(self.counts.values()) < 12)
    @rule(topic=st.sampled_from("tu"))
    def grow(self, topic):
        self.counts[topic] += 1
        self.driver.topics.replace({t: (topic_id(t), n) for t, n in self.counts.items()})

    # Clients

    def beat(self, client, *, reply_lost=False):
        if client.classic:
            self.beat_classic(client, reply_lost=reply_lost)
        else:
            self.beat_consumer(client, reply_lost=reply_lost)

    def beat_consumer(self, client, *, reply_lost):
        full = {"topics": client.topics, "rebalance_timeout_ms": 60_000} if client.tell_all else {}
        answer = self.driver.consumer_heartbeat(
            client.member_id,
            client.epoch,
            owned=client.owned_by_topic(),
            instance_id=client.instance,
            **full,
        )
        if reply_lost:
            client.tell_all = True
            return
        reply = answer.reply
        if reply.error_code is E.NONE:
            client.epoch, client.tell_all = reply.member_epoch, False
            if reply.assignment is not None:
                client.take(
                    (bytes(one.topic_id).rstrip(b"\0").decode(), number)
                    for one in reply.assignment
                    for number in one.partitions
                )
        elif reply.error_code in (E.FENCED_MEMBER_EPOCH, E.UNKNOWN_MEMBER_ID):
            client.abandon()
        elif reply.error_code is E.FENCED_INSTANCE_ID:
            del self.clients[client.name]

    def beat_classic(self, client, *, reply_lost):
        """A cooperative consumer: sends heartbeats; joins and syncs if a response requires it."""
        if client.epoch > 0 and not client.tell_all:
            answer = self.driver.heartbeat(client.member_id, client.epoch, instance=client.instance)
            if answer.code is E.NONE:
                return
            if answer.code is not E.REBALANCE_IN_PROGRESS:
                client.abandon()
        owned = client.owned_by_topic()
        metadata = subscription(*client.topics, owned=owned.items())
        answer = self.driver.join(
            client.member_id,
            instance=client.instance,
            known=False,
            protocols=(Protocol("cooperative-sticky", metadata),),
        )
        if reply_lost or not answer.done:
            return
        self.joined(client, answer.reply)

    def joined(self, client, reply):
        if reply.error_code in (E.UNKNOWN_MEMBER_ID, E.FENCED_INSTANCE_ID):
            del self.clients[client.name]
        if reply.error_code is not E.NONE:
            return
        client.member_id, client.epoch = reply.member_id, reply.generation_id
        if self.group() is None:
            return
        answer = self.driver.sync(client.member_id, client.epoch, instance=client.instance)
        if answer.done and answer.code is E.NONE:
            client.tell_all = False
            assignment = decode_assignment(answer.reply.assignment)
            client.take((topic, n) for topic, numbers in assignment.items() for n in numbers)

    # Checks

    def group(self):
        group = self.driver.shard._groups.get("g")
        return group if isinstance(group, ConsumerGroup) else None

    @invariant()
    def no_partition_is_held_twice(self):
        group = self.group() if hasattr(self, "driver") else None
        if group is None:
            return
        held = [p for member in group.members.values() for p in member.holds()]
        assert len(held) == len(set(held))
        assert set(group.owners) == set(held)
        assert group.target_epoch <= group.group_epoch

    @invariant()
    def what_members_own_is_held_for_them(self):
        group = self.group() if hasattr(self, "driver") else None
        if group is None:
            return
        for client in self.clients.values():
            member = group.members.get(client.member_id)
            if member is None or member.member_epoch < 0:
                continue
            held = {(bytes(t).rstrip(b"\0").decode(), number) for t, number in member.holds()}
            assert client.owned <= held, f"{client} reads what is held for others: {held}"

    def teardown(self):
        if not hasattr(self, "driver"):
            return
        self.driver.fail_next = None
        for name in [n for n, client in self.clients.items() if client.classic]:
            self.crash(name)
        self.driver.advance(120_000)  # whoever is not there any more is removed
        for _ in range(6):
            for client in list(self.clients.values()):
                client.finish_revoking()
                self.beat(client)
        group = self.group()
        if group is None or not self.clients:
            return
        assert self.driver.state() == "Stable"
        wanted = {t for client in self.clients.values() for t in client.topics}
        everything = {(t, n) for t in wanted for n in range(self.counts[t])}
        owned = [p for client in self.clients.values() for p in client.owned]
        assert sorted(owned) == sorted(everything)


TestReconciliation = Reconciliation.TestCase
TestReconciliation.settings = settings(max_examples=150, stateful_step_count=40, deadline=None)
