"""Runs a GroupCoordinatorShard in memory as a broker does: log, timers, replies."""

from itertools import count

from barnabas.coordination import SetTimer
from barnabas.groups.coordinator import GroupCoordinatorShard
from barnabas.groups.requests import (
    ConsumerGroupHeartbeatRequest,
    HeartbeatRequest,
    JoinGroupRequest,
    LeaveGroupRequest,
    LeavingMember,
    OffsetCommitRequest,
    OffsetFetchRequest,
    OffsetToCommit,
    OwnedPartitions,
    Protocol,
    SyncGroupRequest,
)
from barnabas.groups.step import FixedTopicsImage, GroupConfig
from barnabas.model.error_codes import ErrorCode
from barnabas.model.ids import TopicPartition, Uuid
from barnabas.wire.coordinator_records import encode_versioned
from barnabas.wire.messages.consumer_protocol_subscription import (
    ConsumerProtocolSubscription,
)
from barnabas.wire.messages.consumer_protocol_subscription import (
    TopicPartition as OwnedTopic,
)


def topic_id(name):
    return Uuid(name.encode().ljust(16, b"\0"))


def image(**topics):
    """topics: name=partition count."""
    return FixedTopicsImage({name: (topic_id(name), n) for name, n in topics.items()})


def subscription(*topics, owned=(), version=3):
    """Embedded subscription bytes; owned: (topic, partitions) pairs."""
    message = ConsumerProtocolSubscription(
        topics=list(topics), owned_partitions=[OwnedTopic(t, list(p)) for t, p in owned]
    )
    return encode_versioned(message, version)


class Answer:
    """The reply to one request: None while it is parked."""

    def __init__(self):
        self.reply = None
        self.answered = 0

    def set(self, reply):
        self.answered += 1
        assert self.answered == 1, "a request was answered twice"
        self.reply = reply

    @property
    def done(self):
        return self.answered > 0

    @property
    def code(self):
        return self.reply.error_code


class GroupDriver:
    """`fail_next` makes the next append fail with that code."""

    def __init__(self, config=None, topics=None, now_ms=1_000_000):
        self.config = config or GroupConfig(initial_rebalance_delay_ms=0)
        self.topics = topics or image(t=4)
        self.now_ms = now_ms
        self.log = []  # (record, producer id) or (producer id, commit)
        self.fail_next = None
        self.appends = 0
        self._ids = count(1)
        self._start_shard()

    def _start_shard(self):
        self.shard = GroupCoordinatorShard(
            self.config, self.topics, lambda: f"id-{next(self._ids)}"
        )
        self.timers = {}
        self.parked = {}

    # Running

    def run(self, outcome, answer=None):
        """Appends, settles, sets timers and replies; returns the reply to this request."""
        answer = answer or Answer()
        if outcome.records:
            outcome = self._append(outcome)
        assert outcome.settled
        for change in outcome.timers:
            if isinstance(change, SetTimer):
                self.timers[change.key] = self.now_ms + change.delay_ms
            else:
                self.timers.pop(change.key, None)
        if outcome.parked is not None:
            assert outcome.reply is None
            self.parked[outcome.parked] = answer
        elif outcome.reply is not None:
            answer.set(outcome.reply)
        for token, reply in outcome.completions:
            self.parked.pop(token).set(reply)
        return answer

    def _append(self, outcome):
        self.appends += 1
        if self.fail_next is not None:
            code, self.fail_next = self.fail_next, None
            return self.shard.settle(outcome.append, code, self.now_ms)
        producer = outcome.append.producer
        producer_id = producer.producer_id if producer else -1
        self.log += [(record, producer_id) for record in outcome.records]
        return self.shard.settle(outcome.append, ErrorCode.NONE, self.now_ms)

    def next_deadline(self):
        return min(self.timers.values(), default=None)

    def fire_due(self):
        due = sorted((at, str(key), key) for key, at in self.timers.items() if at <= self.now_ms)
        for _, _, key in due:
            if self.timers.get(key, self.now_ms + 1) <= self.now_ms:
                del self.timers[key]
                self.run(self.shard.on_timer(key, self.now_ms))
        return bool(due)

    def advance(self, delay_ms):
        """Let time pass; timers fire on the way, in order."""
        end = self.now_ms + delay_ms
        while (at := self.next_deadline()) is not None and at <= end:
            self.now_ms = max(self.now_ms, at)
            self.fire_due()
        self.now_ms = end

    def compacted_log(self):
        """Returns the log after compaction: the newest record per key, including tombstones."""
        newest = {}
        for entry in self.log:
            if entry[1] == -1:
                newest[entry[0].key] = entry
        return [e for e in self.log if e[1] != -1 or newest[e[0].key] is e]

    def reload(self, *, compacted=False):
        """A new coordinator takes over from the log; parked requests are dismissed."""
        for token, reply in self.shard.unload().completions:
            self.parked.pop(token).set(reply)
        assert not self.parked
        log = self.compacted_log() if compacted else self.log
        self._start_shard()
        for entry in log:
            if isinstance(entry[0], int):
                self.shard.end_transaction(entry[0], commit=entry[1])
            else:
                self.shard.replay(*entry)
        self.run(self.shard.loaded(self.now_ms))

    def end_transaction(self, producer_id, *, commit):
        self.log.append((producer_id, commit))
        self.shard.end_transaction(producer_id, commit=commit)

    # Requests with defaults

    def join(self, member_id="", group="g", **kw):
        return self.run(self.shard.join_group(join_request(member_id, group, **kw), self.now_ms))

    def sync(self, member_id, generation, assignments=(), group="g", instance=None, **kw):
        request = SyncGroupRequest(
            group, generation, member_id, instance, assignments=tuple(assignments), **kw
        )
        return self.run(self.shard.sync_group(request, self.now_ms))

    def heartbeat(self, member_id, generation, group="g", instance=None):
        request = HeartbeatRequest(group, generation, member_id, instance)
        return self.run(self.shard.heartbeat(request, self.now_ms))

    def leave(self, *members, group="g"):
        """members: ids or LeavingMember."""
        leaving = tuple(m if isinstance(m, LeavingMember) else LeavingMember(m) for m in members)
        return self.run(self.shard.leave_group(LeaveGroupRequest(group, leaving), self.now_ms))

    def commit(
        self, offset, member_id="", generation=-1, group="g", topic_partition=("t", 0), **kw
    ):
        offsets = kw.pop("offsets", None) or (OffsetToCommit(*topic_partition, offset, 7, "m"),)
        request = OffsetCommitRequest(group, offsets, generation, member_id, **kw)
        return self.run(self.shard.commit_offsets(request, self.now_ms))

    def committed(self, group="g", topic_partition=("t", 0), **kw):
        request = OffsetFetchRequest(group, (TopicPartition(*topic_partition),), **kw)
        return self.shard.fetch_offsets(request).offsets[0]

    def consumer_heartbeat(self, member_id="", epoch=0, group="g", **kw):
        request = consumer_request(member_id, epoch, group, **kw)
        return self.run(self.shard.consumer_group_heartbeat(request, self.now_ms))

    # Shortcuts

    def state(self, group="g"):
        listed = {one.group_id: one.state for one in self.shard.list_groups()}
        return listed.get(group)

    def stable_group(self, members=2, **kw):
        """A stable classic group; gives its member ids, the leader first."""
        joins = [self.join(known=False, **kw) for _ in range(members)]
        self.advance(self.config.initial_rebalance_delay_ms)
        ids = [one.reply.member_id for one in joins]
        for one in joins:
            assert one.done, one
        generation = joins[0].reply.generation_id
        for follower in ids[1:]:
            self.sync(follower, generation)
        answer = self.sync(ids[0], generation, [(i, i.encode()) for i in ids])
        assert answer.code is ErrorCode.NONE
        assert self.state() == "Stable"
        return ids


def join_request(member_id="", group="g", *, instance=None, known=True, protocols=None, **kw):
    defaults = {
        "client_id": "client",
        "client_host": "/127.0.0.1",
        "session_timeout_ms": 10_000,
        "rebalance_timeout_ms": 60_000,
        "protocol_type": "consumer",
    }
    return JoinGroupRequest(
        group_id=group,
        member_id=member_id,
        group_instance_id=instance,
        protocols=protocols or (Protocol("range", subscription("t")),),
        requires_known_member_id=known,
        **(defaults | kw),
    )


def consumer_request(member_id="", epoch=0, group="g", *, topics=None, owned=None, **kw):
    """Joining requests get the fields that a join needs; owned: {topic: partitions}."""
    defaults = {"client_id": "client", "client_host": "/127.0.0.1"}
    if epoch == 0:
        topics, owned = topics or ("t",), owned or {}
        defaults["rebalance_timeout_ms"] = 60_000
    partitions = None
    if owned is not None:
        partitions = tuple(OwnedPartitions(topic_id(t), tuple(p)) for t, p in owned.items())
    return ConsumerGroupHeartbeatRequest(
        group_id=group,
        member_id=member_id,
        member_epoch=epoch,
        subscribed_topic_names=topics,
        topic_partitions=partitions,
        **(defaults | kw),
    )


def owned_of(reply):
    """The assignment of a KIP-848 reply as {topic: sorted partitions}."""
    return {
        bytes(one.topic_id).rstrip(b"\0").decode(): list(one.partitions)
        for one in reply.assignment or ()
    }
