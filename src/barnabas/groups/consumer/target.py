"""Computes the target assignment of a group."""

from barnabas.groups.consumer.assignors import ASSIGNORS
from barnabas.groups.consumer.assignors.spec import GroupSpec, MemberSpec
from barnabas.groups.consumer.draft import ConsumerDraft
from barnabas.groups.consumer.group import ConsumerGroup
from barnabas.groups.step import GroupStep


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
