"""The uniform assignor: loads as equal as subscriptions allow, moving as little as possible.

Members keep what they had while that is fair; what is left over goes to the least loaded. With
one subscription for all, quotas settle it in one pass. With different ones, partitions are then
moved from heavier to lighter subscribers for as long as a move evens out two loads; every move
lowers the sum of squared loads, so this ends.
"""

from collections.abc import Iterator

from barnabas.groups.consumer.assignors.spec import GroupSpec, freeze
from barnabas.model.ids import Uuid

_Partition = tuple[Uuid, int]
_Owned = dict[str, set[_Partition]]


def assign_uniform(spec: GroupSpec) -> dict[str, dict[Uuid, frozenset[int]]]:
    if not spec.members:
        return {}
    owned = _assign_by_quota(spec) if spec.is_homogeneous else _assign_by_load(spec)
    return freeze(owned)


def _previous(spec: GroupSpec, taken: set[_Partition]) -> dict[str, list[_Partition]]:
    """What each member had and may keep: subscribed, existing, not claimed twice."""
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
    # Those who had most come first, so that the larger shares go where they move least.
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
    """Move single partitions until no move between two subscribers makes their loads closer.

    One move may make room for another by a member looked at before, hence pass after pass.
    """
    moved = True
    while moved:
        moved = False
        for giver in sorted(owned, key=lambda name: (-len(owned[name]), name)):
            while (move := _best_move(owned, subscribers, giver)) is not None:
                partition, receiver = move
                owned[giver].remove(partition)
                owned[receiver].add(partition)
                moved = True


def _best_move(
    owned: _Owned, subscribers: dict[Uuid, list[str]], giver: str
) -> tuple[_Partition, str] | None:
    best: tuple[int, _Partition, str] | None = None
    for topic_id in sorted({topic_id for topic_id, _ in owned[giver]}):
        receiver = min(subscribers[topic_id], key=lambda name: (len(owned[name]), name))
        load = len(owned[receiver])
        if load + 1 < len(owned[giver]) and (best is None or load < best[0]):
            partition = max(p for p in owned[giver] if p[0] == topic_id)
            best = (load, partition, receiver)
    return (best[1], best[2]) if best is not None else None
