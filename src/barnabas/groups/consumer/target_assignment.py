"""The target assignment of a KIP-848 group: its subscribed topics and the server-side assignors.

Assignors are pure functions of a `GroupSpec`, found by the names that members use.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import NamedTuple

from barnabas.groups.consumer.draft import ConsumerDraft
from barnabas.groups.consumer.group import ConsumerGroup, Partitions, ResolvedRegex, TopicMetadata
from barnabas.groups.consumer.topic_regex import compile_topic_regex
from barnabas.groups.step import GroupStep, RebalanceCause, TopicsImage
from barnabas.model.ids import INTERNAL_TOPICS, Uuid

_Partition = tuple[Uuid, int]
_Owned = dict[str, set[_Partition]]


class MemberSpec(NamedTuple):
    """A member: its subscribed topics and its previous assignment."""

    topics: frozenset[Uuid]
    instance_id: str | None
    previous: Partitions


class GroupSpec(NamedTuple):
    """Members by id, and the partition count of every subscribed topic that exists."""

    members: Mapping[str, MemberSpec]
    topics: Mapping[Uuid, int]

    @property
    def is_homogeneous(self) -> bool:
        """Whether all members subscribe to the same topics."""
        return len({member.topics for member in self.members.values()}) <= 1

    def subscribers(self, topic_id: Uuid) -> list[str]:
        return [name for name, member in self.members.items() if topic_id in member.topics]

    def partitions(self) -> Iterator[tuple[Uuid, int]]:
        """Returns all partitions of the topics, in a fixed order."""
        for topic_id in sorted(self.topics):
            for partition in range(self.topics[topic_id]):
                yield topic_id, partition


Assignor = Callable[[GroupSpec], dict[str, dict[Uuid, frozenset[int]]]]
"""Every member of the spec is in the result; every partition with a subscriber has one owner."""


def freeze(owned: Mapping[str, set[tuple[Uuid, int]]]) -> dict[str, dict[Uuid, frozenset[int]]]:
    """Converts sets of single partitions to partitions by topic."""
    result: dict[str, dict[Uuid, frozenset[int]]] = {}
    for member_id, partitions in owned.items():
        by_topic: dict[Uuid, set[int]] = {}
        for topic_id, partition in partitions:
            by_topic.setdefault(topic_id, set()).add(partition)
        result[member_id] = {topic_id: frozenset(found) for topic_id, found in by_topic.items()}
    return result


# --- range ----------------------------------------------------------------------------------------


def assign_range(spec: GroupSpec) -> dict[str, dict[Uuid, frozenset[int]]]:
    """Gives every subscriber of a topic one range of consecutive partitions.

    Members have the same order for every topic (static members first, by instance id), so topics
    with equal partition counts are co-partitioned: partition n of each has the same owner.
    """
    result: dict[str, dict[Uuid, frozenset[int]]] = {name: {} for name in spec.members}
    for topic_id in sorted(spec.topics):
        subscribers = sorted(spec.subscribers(topic_id), key=lambda name: _rank(spec, name))
        if subscribers:
            _spread(result, subscribers, topic_id, spec.topics[topic_id])
    return result


def _rank(spec: GroupSpec, member_id: str) -> tuple[bool, str, str]:
    instance_id = spec.members[member_id].instance_id
    return instance_id is None, instance_id or "", member_id


def _spread(
    result: dict[str, dict[Uuid, frozenset[int]]],
    subscribers: list[str],
    topic_id: Uuid,
    partition_count: int,
) -> None:
    share, extra = divmod(partition_count, len(subscribers))
    start = 0
    for index, member_id in enumerate(subscribers):
        end = start + share + (index < extra)
        if end > start:
            result[member_id][topic_id] = frozenset(range(start, end))
        start = end


# --- uniform --------------------------------------------------------------------------------------


def assign_uniform(spec: GroupSpec) -> dict[str, dict[Uuid, frozenset[int]]]:
    """Makes loads as equal as subscriptions allow, and moves as few partitions as possible.

    Members keep their partitions while that is fair; the least loaded members get the others. If
    all members have the same subscription, quotas decide in one pass. Otherwise partitions are then
    moved from members with more partitions to members with fewer, as long as a move makes two loads
    more equal. Every move decreases the sum of squared loads, so this ends.
    """
    if not spec.members:
        return {}
    owned = _assign_by_quota(spec) if spec.is_homogeneous else _assign_by_load(spec)
    return freeze(owned)


def _previous(spec: GroupSpec, taken: set[_Partition]) -> dict[str, list[_Partition]]:
    """Returns the partitions that each member may keep: subscribed, existing, with one owner."""
    kept: dict[str, list[_Partition]] = {}
    for member_id, member in spec.members.items():
        kept[member_id] = mine = []
        for topic_id in sorted(member.previous):
            count = spec.topics.get(topic_id, 0) if topic_id in member.topics else 0
            for partition in sorted(member.previous[topic_id]):
                if partition < count and (topic_id, partition) not in taken:
                    taken.add((topic_id, partition))
                    mine.append((topic_id, partition))
    return kept


def _assign_by_quota(spec: GroupSpec) -> _Owned:
    topics = next(iter(spec.members.values())).topics
    everything = [p for p in spec.partitions() if p[0] in topics]
    share, extra = divmod(len(everything), len(spec.members))
    kept = _previous(spec, set())
    owned: _Owned = {}
    # Members with the most partitions first: they get the larger shares, so fewer partitions move.
    for member_id in sorted(kept, key=lambda name: -len(kept[name])):
        quota = share + (extra > 0 and len(kept[member_id]) > share)
        extra -= quota > share
        owned[member_id] = set(kept[member_id][:quota])
    assigned = set().union(*owned.values())
    free = iter([p for p in everything if p not in assigned])
    for member_id in spec.members:
        # Members already above the plain share used up one of the extras above.
        for partition in _take(free, share - len(owned[member_id])):
            owned[member_id].add(partition)
    for member_id, partition in zip(_at_share(spec, owned, share), free, strict=False):
        owned[member_id].add(partition)
    return owned


def _at_share(spec: GroupSpec, owned: _Owned, share: int) -> list[str]:
    return [member_id for member_id in spec.members if len(owned[member_id]) == share]


def _take(source: Iterator[_Partition], count: int) -> list[_Partition]:
    return [partition for _, partition in zip(range(count), source, strict=False)]


def _assign_by_load(spec: GroupSpec) -> _Owned:
    subscribers = {topic_id: spec.subscribers(topic_id) for topic_id in spec.topics}
    taken: set[_Partition] = set()
    owned = {name: set(mine) for name, mine in _previous(spec, taken).items()}
    # Topics with the fewest subscribers first: their partitions have the least choice.
    rest = [p for p in spec.partitions() if p not in taken and subscribers[p[0]]]
    for partition in sorted(rest, key=lambda p: len(subscribers[p[0]])):
        lightest = min(subscribers[partition[0]], key=lambda name: len(owned[name]))
        owned[lightest].add(partition)
    _even_out(owned, subscribers)
    return owned


def _even_out(owned: _Owned, subscribers: dict[Uuid, list[str]]) -> None:
    """Moves single partitions until no move between two subscribers makes their loads more equal.

    A move can make another one possible for an earlier member, so passes are repeated.
    """
    moved = True
    while moved:
        moved = False
        for donor in sorted(owned, key=lambda name: (-len(owned[name]), name)):
            while (move := _best_move(owned, subscribers, donor)) is not None:
                partition, receiver = move
                owned[donor].remove(partition)
                owned[receiver].add(partition)
                moved = True


def _best_move(
    owned: _Owned, subscribers: dict[Uuid, list[str]], donor: str
) -> tuple[_Partition, str] | None:
    best: tuple[int, _Partition, str] | None = None
    for topic_id in sorted({topic_id for topic_id, _ in owned[donor]}):
        receiver = min(subscribers[topic_id], key=lambda name: (len(owned[name]), name))
        load = len(owned[receiver])
        # A move between members that differ by one would only exchange their roles, and the loop of
        # the caller would not end.
        if load + 1 < len(owned[donor]) and (best is None or load < best[0]):
            partition = max(p for p in owned[donor] if p[0] == topic_id)
            best = (load, partition, receiver)
    return (best[1], best[2]) if best is not None else None


ASSIGNORS: dict[str, Assignor] = {"uniform": assign_uniform, "range": assign_range}


def refresh(step: GroupStep, draft: ConsumerDraft, *, subscriptions_changed: bool) -> None:
    """Updates regular expressions and topic metadata; a change starts a new group epoch and
    therefore a new target assignment."""
    if not subscriptions_changed and draft.group.seen_image_version == step.topics.version:
        return
    regexes_changed = _refresh_regexes(step, draft)
    metadata = subscription_metadata(draft.group, step.topics)
    metadata_changed = metadata != draft.group.subscription_metadata
    if metadata_changed:
        draft.set_subscription_metadata(metadata)
    if subscriptions_changed or regexes_changed or metadata_changed:
        cause = RebalanceCause.SUBSCRIPTION if subscriptions_changed else RebalanceCause.TOPICS
        draft.bump_epoch(cause.value)
        step.stats.rebalances["consumer", cause.value] += 1
    # Without a change this is the current group, which is checked again only after the next
    # version. After a change it is a copy: if the append fails, the group is checked again.
    draft.group.seen_image_version = step.topics.version


def subscription_metadata(group: ConsumerGroup, topics: TopicsImage) -> dict[str, TopicMetadata]:
    names = frozenset().union(*(group.topics_of(member) for member in group.members.values()))
    found: dict[str, TopicMetadata] = {}
    for name in names:
        topic_id = topics.topic_id(name)
        if topic_id is not None:
            found[name] = TopicMetadata(topic_id, topics.partition_count(name))
    return found


def resolve(regex: str, names: Iterable[str]) -> frozenset[str]:
    """Returns the topics that the expression matches completely, without internal topics."""
    matches = compile_topic_regex(regex)
    return frozenset(name for name in names if name not in INTERNAL_TOPICS and matches(name))


def _refresh_regexes(step: GroupStep, draft: ConsumerDraft) -> bool:
    """Resolves the expressions; returns whether any now matches other topics."""
    wanted = {member.subscribed_topic_regex for member in draft.group.members.values()} - {""}
    changed = False
    for regex in sorted(draft.group.regexes.keys() - wanted):
        draft.remove_regex(regex)
    for regex in sorted(wanted):
        before = draft.group.regexes.get(regex)
        # Heartbeats come often and a cluster may have thousands of topics: an expression is
        # evaluated again only after topics were created or deleted.
        if before is not None and before.image_version == step.topics.version:
            continue
        topics = resolve(regex, step.topics.topic_names())
        if before is None or before.topics != topics:
            resolved = ResolvedRegex(topics, step.topics.version, step.now_ms)
            draft.put_regex(regex, resolved)
            changed = True
    return changed


def update_target(step: GroupStep, draft: ConsumerDraft) -> None:
    """Computes a new target when the group epoch is newer than the target epoch."""
    group = draft.group
    if group.group_epoch <= group.target_epoch:
        return
    name = group.preferred_assignor() or step.config.consumer_assignors[0]
    assignment = ASSIGNORS[name](_spec(group))
    for member_id, partitions in assignment.items():
        if member_id not in group.target or group.target[member_id] != partitions:
            draft.put_target(member_id, partitions)
    draft.set_target_epoch(draft.group.group_epoch)


def _spec(group: ConsumerGroup) -> GroupSpec:
    metadata = group.subscription_metadata
    members = {
        member_id: MemberSpec(
            topics=frozenset(
                metadata[topic].topic_id for topic in group.topics_of(member) if topic in metadata
            ),
            instance_id=member.instance_id,
            previous=group.target_of(member_id),
        )
        for member_id, member in group.members.items()
    }
    topics = {topic.topic_id: topic.partition_count for topic in metadata.values()}
    return GroupSpec(members, topics)
