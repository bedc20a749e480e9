"""Who reads which partition: the strategies a group's leader divides partitions by. Pure."""

from barnabas.clients.assignors.cooperative_sticky import CooperativeStickyAssignor
from barnabas.clients.assignors.port import Assignor, MemberSubscription
from barnabas.clients.assignors.range import RangeAssignor
from barnabas.clients.assignors.round_robin import RoundRobinAssignor
from barnabas.clients.assignors.sticky import StickyAssignor

__all__ = [
    "Assignor",
    "CooperativeStickyAssignor",
    "MemberSubscription",
    "RangeAssignor",
    "RoundRobinAssignor",
    "StickyAssignor",
]
