"""Subscribed topics of a group and their metadata: the input of the target assignment."""

from collections.abc import Iterable

from barnabas.groups.consumer.draft import ConsumerDraft
from barnabas.groups.consumer.group import ConsumerGroup, ResolvedRegex, TopicMetadata
from barnabas.groups.consumer.topic_regex import compile_topic_regex
from barnabas.groups.step import GroupStep
from barnabas.groups.topics_image import TopicsImage
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
        draft.bump_epoch()
    # When nothing changed this is the live group, which need not look again before the next
    # version; when something did, the live group must look again should the append fail.
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
