"""Members, partitions and commits of consumer groups."""

from scenarios.registry import scenario

# Shorter than the default, so that a member that stops polling loses its partitions soon.
SLOW = {"max_poll_interval_ms": 1200, "session_timeout_ms": 1200, "heartbeat_interval_ms": 200}


def values_of(records):
    return [record.value for record in records]


def offsets_of(records):
    return [record.offset for record in records]


@scenario(partitions=4)
def one_member_has_all_partitions(w):
    """The only member of a group is assigned all partitions."""
    topic = w.topic(4)
    consumer = w.consumer(w.name("group"))
    consumer.subscribe([topic])
    return {"partitions": len(w.join(consumer))}


@scenario(shares=[2, 2], distinct=True)
def two_members_share(w):
    """Two members share four partitions; each partition has one owner."""
    topic, group = w.topic(4), w.name("group")
    members = [w.consumer(group) for _ in range(2)]
    for member in members:
        member.subscribe([topic])
    shares = w.settle(*members, sizes=[2, 2])
    owned = [place for member in members for place in member.assignment()]
    return {"shares": shares, "distinct": len(set(owned)) == len(owned)}


@scenario(shares=[0, 1, 1])
def more_members_than_partitions(w):
    """Of three members of a topic with two partitions one has nothing to read."""
    topic, group = w.topic(2), w.name("group")
    members = [w.consumer(group) for _ in range(3)]
    for member in members:
        member.subscribe([topic])
    return {"shares": w.settle(*members, sizes=[0, 1, 1])}


@scenario(after=[4])
def a_member_leaves(w):
    """When a member closes, the other one takes over its partitions."""
    topic, group = w.topic(4), w.name("group")
    first, second = w.consumer(group), w.consumer(group)
    for member in (first, second):
        member.subscribe([topic])
    w.settle(first, second, sizes=[2, 2])
    first.close()
    return {"after": w.settle(second, sizes=[4])}


@scenario(committed={0: 5}, next=[5, 6, 7, 8, 9])
def reading_goes_on_at_the_committed_offset(w):
    """A new member starts where the group committed."""
    topic, group = w.topic(1), w.name("group")
    w.feed(topic, 10)
    first = w.consumer(group, max_poll_records=5)
    first.subscribe([topic])
    w.read(first, 5)
    first.commit()
    first.close()
    second = w.consumer(group)
    second.subscribe([topic])
    return {"committed": w.group_offsets(group), "next": offsets_of(w.read(second, 5))}


@scenario(committed={}, next=[0, 1, 2])
def without_a_commit_records_are_read_again(w):
    """A member that never committed leaves nothing; the next one reads from the start."""
    topic, group = w.topic(1), w.name("group")
    w.feed(topic, 3)
    first = w.consumer(group)
    first.subscribe([topic])
    w.read(first, 3)
    first.close()
    second = w.consumer(group)
    second.subscribe([topic])
    return {"committed": w.group_offsets(group), "next": offsets_of(w.read(second, 3))}


@scenario(committed={0: 3}, next=[3, 4, 5])
def a_given_offset_is_committed(w):
    """commit(offsets) stores the offset given, not the position."""
    topic, group = w.topic(1), w.name("group")
    w.feed(topic, 6)
    first = w.consumer(group)
    first.subscribe([topic])
    w.read(first, 6)
    first.commit({(topic, 0): 3})
    first.close()
    second = w.consumer(group)
    second.subscribe([topic])
    return {"committed": w.group_offsets(group), "next": offsets_of(w.read(second, 3))}


@scenario(read=5, committed={0: 5})
def commit_covers_only_what_poll_returned(w):
    """commit() after five of twenty records commits 5, although more was fetched."""
    topic, group = w.topic(1), w.name("group")
    w.feed(topic, 20)
    consumer = w.consumer(group, max_poll_records=5)
    consumer.subscribe([topic])
    read = w.read(consumer, 5)
    consumer.commit()
    return {"read": len(read), "committed": w.group_offsets(group)}


@scenario(committed={0: 10})
def auto_commit_on_close(w):
    """With enable.auto.commit, close() commits what was read."""
    topic, group = w.topic(1), w.name("group")
    w.feed(topic, 10)
    consumer = w.consumer(group, enable_auto_commit=True, auto_commit_interval_ms=60000)
    consumer.subscribe([topic])
    w.read(consumer, 10)
    consumer.close()
    return {"committed": w.group_offsets(group)}


@scenario(committed={0: 5})
def auto_commit_covers_only_what_poll_returned(w):
    """With enable.auto.commit, close() after five of twenty records commits 5."""
    topic, group = w.topic(1), w.name("group")
    w.feed(topic, 20)
    config = {"enable_auto_commit": True, "auto_commit_interval_ms": 60000, "max_poll_records": 5}
    consumer = w.consumer(group, **config)
    consumer.subscribe([topic])
    w.read(consumer, 5)
    consumer.close()
    return {"committed": w.group_offsets(group)}


@scenario(committed={0: 10})
def auto_commit_by_interval(w):
    """With enable.auto.commit, offsets are committed while the consumer polls."""
    topic, group = w.topic(1), w.name("group")
    w.feed(topic, 10)
    consumer = w.consumer(group, enable_auto_commit=True, auto_commit_interval_ms=100)
    consumer.subscribe([topic])
    w.read(consumer, 10)

    def committed():
        consumer.poll(0.1)
        return w.group_offsets(group) == {0: 10}

    w.until(committed, 10, 0)
    return {"committed": w.group_offsets(group)}


@scenario(committed={})
def no_auto_commit(w):
    """Without enable.auto.commit, close() commits nothing."""
    topic, group = w.topic(1), w.name("group")
    w.feed(topic, 5)
    consumer = w.consumer(group)
    consumer.subscribe([topic])
    w.read(consumer, 5)
    consumer.close()
    return {"committed": w.group_offsets(group)}


@scenario(committed={})
def unsubscribe_commits_nothing(w):
    """unsubscribe() does not commit, also with enable.auto.commit; only close() does."""
    topic, group = w.topic(1), w.name("group")
    w.feed(topic, 10)
    consumer = w.consumer(group, enable_auto_commit=True, auto_commit_interval_ms=60000)
    consumer.subscribe([topic])
    w.read(consumer, 10)
    consumer.unsubscribe()
    w.until(lambda: w.members(group) == 0, 2)
    return {"committed": w.group_offsets(group)}


@scenario(committed=True)
def a_removed_member_cannot_commit(w):
    """A member that an administrator removed gets an error from commit()."""
    topic, group = w.topic(1), w.name("group")
    w.feed(topic, 5)
    consumer = w.consumer(group, heartbeat_interval_ms=200)
    consumer.subscribe([topic])
    w.read(consumer, 5)
    w.remove_members(group)
    refused = w.error(consumer.commit) != "none"
    return {"committed": refused and w.group_offsets(group) == {}}


@scenario(error="COMMIT_FAILED")
def the_error_of_a_removed_member(w):
    """commit() of a removed member raises the error that stands for CommitFailedException."""
    topic, group = w.topic(1), w.name("group")
    w.feed(topic, 5)
    consumer = w.consumer(group, heartbeat_interval_ms=200)
    consumer.subscribe([topic])
    w.read(consumer, 5)
    w.remove_members(group)
    return {"error": w.error(consumer.commit)}


def _overtaken(w, end, **config):
    """A member is removed after five records; its successor reads all ten and leaves."""
    topic, group = w.topic(1), w.name("group")
    w.feed(topic, 10)
    first = w.consumer(
        group,
        enable_auto_commit=True,
        auto_commit_interval_ms=60000,
        max_poll_records=5,
        **config,
    )
    first.subscribe([topic])
    w.read(first, 5)
    if "max_poll_interval_ms" in config:
        w.until(lambda: w.members(group) == 0)
    else:
        w.remove_members(group)
    second = w.consumer(group)
    second.subscribe([topic])
    w.read(second, 10)
    second.commit()
    second.close()
    w.error(lambda: end(first))
    return {"committed": w.group_offsets(group)}


@scenario(committed={0: 10})
def a_removed_member_closes(w):
    """close() of a removed member does not move the group's offsets back."""
    return _overtaken(w, lambda consumer: consumer.close(), heartbeat_interval_ms=200)


@scenario(committed={0: 10})
def a_removed_member_unsubscribes(w):
    """unsubscribe() of a removed member does not move the group's offsets back."""
    return _overtaken(w, lambda consumer: consumer.unsubscribe(), heartbeat_interval_ms=200)


@scenario(committed={0: 10})
def a_slow_member_closes(w):
    """A member that exceeded max.poll.interval.ms closes: the offsets are not moved back."""
    return _overtaken(w, lambda consumer: consumer.close(), **SLOW)


@scenario(members=0)
def a_slow_member_is_removed(w):
    """A member that does not poll for max.poll.interval.ms leaves the group."""
    topic, group = w.topic(1), w.name("group")
    consumer = w.consumer(group, **SLOW)
    consumer.subscribe([topic])
    w.join(consumer)
    w.until(lambda: w.members(group) == 0)
    return {"members": w.members(group)}


@scenario(values=[b"0", b"1"])
def a_slow_member_comes_back(w):
    """A member that was removed for not polling joins again with its next poll."""
    topic, group = w.topic(1), w.name("group")
    consumer = w.consumer(group, **SLOW)
    consumer.subscribe([topic])
    w.join(consumer)
    w.until(lambda: w.members(group) == 0)
    w.feed(topic, 2)
    found = []

    def more():
        try:
            found.extend(consumer.poll(0.1))
        except Exception:  # noqa: BLE001 - confluent-kafka reports the exceeded interval
            return False
        return len(found) >= 2

    w.until(more, 15, 0)
    return {"values": values_of(found)}


@scenario(events=["assigned", "revoked"])
def a_listener_hears_of_rebalances(w):
    """The listener is called for the assignment, and for the revocation at close()."""
    topic, group = w.topic(2), w.name("group")
    consumer = w.consumer(group)
    events = []
    consumer.subscribe([topic], events)
    w.join(consumer)
    consumer.close()
    return {"events": [word for word, partitions in events if partitions]}


@scenario(first=[0, 1, 2], second=[0, 1, 2])
def two_groups_read_independently(w):
    """Two groups each read all records."""
    topic = w.topic(1)
    w.feed(topic, 3)
    found = []
    for _ in range(2):
        consumer = w.consumer(w.name("group"))
        consumer.subscribe([topic])
        found.append(offsets_of(w.read(consumer, 3)))
    return {"first": found[0], "second": found[1]}


@scenario(same=True)
def a_static_member_keeps_its_partitions(w):
    """A static member that restarts gets the partitions it had."""
    topic, group = w.topic(4), w.name("group")
    names = [w.name("instance") for _ in range(2)]
    members = [w.consumer(group, group_instance_id=name) for name in names]
    for member in members:
        member.subscribe([topic])
    w.settle(*members, sizes=[2, 2])
    before = sorted(members[0].assignment())
    members[0].close()
    again = w.consumer(group, group_instance_id=names[0])
    again.subscribe([topic])
    w.settle(again, members[1], sizes=[2, 2])
    return {"same": sorted(again.assignment()) == before}


@scenario(committed=7, members=0)
def assign_joins_no_group(w):
    """assign() with a group.id commits without becoming a member."""
    topic, group = w.topic(1), w.name("group")
    w.feed(topic, 10)
    consumer = w.consumer(group)
    consumer.assign([(topic, 0)])
    w.read(consumer, 10)
    consumer.commit({(topic, 0): 7})
    return {"committed": consumer.committed((topic, 0)), "members": w.members(group)}


@scenario(assignment=[], subscribe="none")
def assigning_nothing_unsubscribes(w):
    """assign([]) drops all partitions; subscribe() works after it."""
    topic = w.topic(1)
    w.feed(topic, 2)
    consumer = w.consumer(w.name("group"))
    consumer.assign([(topic, 0)])
    w.read(consumer, 2)
    consumer.assign([])
    assignment = consumer.assignment()
    return {
        "assignment": assignment,
        "subscribe": w.error(lambda: consumer.subscribe([topic])),
    }


@scenario(error="MISUSE")
def subscribe_and_assign_do_not_mix(w):
    """assign() on a subscribed consumer is rejected."""
    topic = w.topic(1)
    consumer = w.consumer(w.name("group"))
    consumer.subscribe([topic])
    return {"error": w.error(lambda: consumer.assign([(topic, 0)]))}


@scenario(error="MISUSE")
def an_empty_topic_name(w):
    """subscribe([""]) is rejected."""
    consumer = w.consumer(w.name("group"))
    return {"error": w.error(lambda: consumer.subscribe([""]))}


@scenario(error="MISUSE")
def a_blank_topic_name(w):
    """subscribe(["  "]) is rejected."""
    consumer = w.consumer(w.name("group"))
    return {"error": w.error(lambda: consumer.subscribe(["  "]))}


@scenario(error="MISUSE")
def no_topic_name(w):
    """subscribe([None]) is rejected."""
    consumer = w.consumer(w.name("group"))
    return {"error": w.error(lambda: consumer.subscribe([None]))}


@scenario(error="MISUSE")
def polling_without_a_subscription(w):
    """poll() of a consumer that reads nothing is rejected."""
    consumer = w.consumer(w.name("group"))
    return {"error": w.error(lambda: consumer.poll(0.2))}


@scenario(members=0)
def subscribing_to_nothing_leaves(w):
    """subscribe([]) leaves the group."""
    topic, group = w.topic(1), w.name("group")
    consumer = w.consumer(group)
    consumer.subscribe([topic])
    w.join(consumer)
    w.error(lambda: consumer.subscribe([]))
    w.until(lambda: w.members(group) == 0, 5)
    return {"members": w.members(group)}


@scenario(before=1, after=0)
def unsubscribe_leaves_the_group(w):
    """unsubscribe() leaves the group."""
    topic, group = w.topic(1), w.name("group")
    consumer = w.consumer(group)
    consumer.subscribe([topic])
    w.join(consumer)
    before = w.members(group)
    consumer.unsubscribe()
    w.until(lambda: w.members(group) == 0, 5)
    return {"before": before, "after": w.members(group)}


@scenario(before=1, after=0)
def close_leaves_the_group(w):
    """close() leaves the group at once."""
    topic, group = w.topic(1), w.name("group")
    consumer = w.consumer(group)
    consumer.subscribe([topic])
    w.join(consumer)
    before = w.members(group)
    consumer.close()
    w.until(lambda: w.members(group) == 0, 5)
    return {"before": before, "after": w.members(group)}


@scenario(topics=[True])
def subscribing_again_replaces_the_topics(w):
    """A second subscribe() replaces the first."""
    first, second = w.topic(1), w.topic(1)
    w.feed(second, 2)
    consumer = w.consumer(w.name("group"))
    consumer.subscribe([first])
    w.join(consumer)
    consumer.subscribe([second])
    found = w.read(consumer, 2)
    return {"topics": sorted({record.topic == second for record in found})}


@scenario(committed=None)
def nothing_is_committed_yet(w):
    """committed() of a new group returns nothing."""
    topic = w.topic(1)
    consumer = w.consumer(w.name("group"))
    consumer.assign([(topic, 0)])
    return {"committed": consumer.committed((topic, 0))}


@scenario(largest=7, total=20)
def poll_returns_at_most_max_poll_records(w):
    """max.poll.records bounds each poll()."""
    topic = w.topic(1)
    w.feed(topic, 20)
    consumer = w.consumer(w.name("group"), max_poll_records=7)
    consumer.subscribe([topic])
    sizes = []
    w.until(lambda: sizes.append(len(consumer.poll(0.2))) or sum(sizes) >= 20, 15, 0)
    return {"largest": max(sizes), "total": sum(sizes)}


def _shares(w, **config):
    topic, group = w.topic(4), w.name("group")
    w.feed(topic, 4, None)
    members = [w.consumer(group, **config) for _ in range(2)]
    for member in members:
        member.subscribe([topic])
    return {"shares": w.settle(*members, sizes=[2, 2])}


@scenario(shares=[2, 2])
def two_members_share_cooperatively(w):
    """Two members with the cooperative-sticky assignor share four partitions."""
    return _shares(w, partition_assignment_strategy="cooperative-sticky")


@scenario(shares=[2, 2])
def two_members_share_by_the_new_protocol(w):
    """Two members of group.protocol=consumer (KIP-848) share four partitions."""
    return _shares(w, group_protocol="consumer")


@scenario(committed={0: 4}, next=[4, 5])
def the_new_protocol_commits(w):
    """With group.protocol=consumer a new member starts at the committed offset."""
    topic, group = w.topic(1), w.name("group")
    w.feed(topic, 6)
    first = w.consumer(group, group_protocol="consumer", max_poll_records=4)
    first.subscribe([topic])
    w.read(first, 4)
    first.commit()
    first.close()
    second = w.consumer(group, group_protocol="consumer")
    second.subscribe([topic])
    return {"committed": w.group_offsets(group), "next": offsets_of(w.read(second, 2))}


@scenario(all_read=True, twice=0)
def a_handover_loses_and_repeats_nothing(w):
    """A member reads half, commits and leaves; the next one reads the rest, nothing twice."""
    topic, group = w.topic(2), w.name("group")
    for number in range(2):
        w.feed(topic, 20, number)
    first = w.consumer(group, max_poll_records=10)
    first.subscribe([topic])
    found = w.read(first, 20)
    first.commit()
    first.close()
    second = w.consumer(group)
    second.subscribe([topic])
    found += w.read(second, 40 - len(found))
    places = [(record.partition, record.offset) for record in found]
    return {
        "all_read": len(set(places)) == 40,
        "twice": len(places) - len(set(places)),
    }


@scenario(kept={0: 3})
def offsets_outlive_the_members(w):
    """A group without members keeps its offsets."""
    topic, group = w.topic(1), w.name("group")
    w.feed(topic, 3)
    consumer = w.consumer(group)
    consumer.subscribe([topic])
    w.read(consumer, 3)
    consumer.commit()
    consumer.close()
    w.until(lambda: w.members(group) == 0)
    return {"kept": w.group_offsets(group)}
