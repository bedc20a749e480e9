"""Assignors: strategies by which the leader of a group assigns partitions to its members.

`resolve_assignors` finds them by their configuration value: Kafka's short names, its class names,
or objects.
"""

from collections.abc import Iterable

from barnabas.clients.assignors.assignor import (
    Assignor,
    MemberSubscription,
    RangeAssignor,
    RoundRobinAssignor,
)
from barnabas.clients.assignors.sticky import CooperativeStickyAssignor, StickyAssignor
from barnabas.model.errors import ConfigError

__all__ = [
    "Assignor",
    "CooperativeStickyAssignor",
    "MemberSubscription",
    "RangeAssignor",
    "RoundRobinAssignor",
    "StickyAssignor",
]


BUILT_IN: dict[str, type[Assignor]] = {
    "range": RangeAssignor,
    "roundrobin": RoundRobinAssignor,
    "sticky": StickyAssignor,
    "cooperative-sticky": CooperativeStickyAssignor,
}
_BY_CLASS_NAME = {kind.__name__: name for name, kind in BUILT_IN.items()}


def resolve_assignors(given: Iterable[object]) -> list[Assignor]:
    """Returns the assignors of `partition.assignment.strategy`, in order of preference.

    >>> [found.name for found in resolve_assignors(["range", "CooperativeStickyAssignor"])]
    ['range', 'cooperative-sticky']
    """
    assignors = [_resolve(item) for item in given]
    if not assignors:
        raise ConfigError("partition.assignment.strategy: at least one assignor is needed")
    names = [assignor.name for assignor in assignors]
    if len(set(names)) < len(names):
        raise ConfigError(f"partition.assignment.strategy: {names} names one assignor twice")
    return assignors


def _resolve(item: object) -> Assignor:
    if isinstance(item, str):
        name = item.rpartition(".")[2]
        found = BUILT_IN.get(item) or BUILT_IN.get(_BY_CLASS_NAME.get(name, ""))
        if found is None:
            raise ConfigError(
                f"partition.assignment.strategy: {item!r} is not one of {', '.join(BUILT_IN)}"
            )
        return found()
    instance = item() if isinstance(item, type) else item
    if isinstance(instance, Assignor):
        return instance
    raise ConfigError(f"partition.assignment.strategy: {item!r} is not an assignor")
