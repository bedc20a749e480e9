"""The target assignment of a KIP-848 group, and the subscribed topics from which it is computed."""

from collections.abc import Iterable

from barnabas.groups.consumer.assignors import ASSIGNORS, GroupSpec, MemberSpec
from barnabas.groups.consumer.draft import ConsumerDraft
from barnabas.groups.consumer.group import ConsumerGroup, ResolvedRegex, TopicMetadata
from barnabas.groups.consumer.topic_regex import compile_topic_regex
from barnabas.groups.step import GroupStep, RebalanceCause, TopicsImage
from barnabas.model.topic_names import INTERNAL_TOPICS


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
