"""The range assignor: of each topic, every subscriber gets one run of neighbouring partitions.

Members are ordered the same way for every topic (static ones first, by instance id), so topics
with equal partition counts are co-partitioned: partition n of each has the same owner.
"""

from barnabas.groups.consumer.assignors.spec import GroupSpec
from barnabas.model.ids import Uuid


def assign_range(spec: GroupSpec) -> dict[str, dict[Uuid, frozenset[int]]]:
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
