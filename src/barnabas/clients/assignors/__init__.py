"""Assignors: strategies by which the leader of a group assigns partitions to its members."""

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
