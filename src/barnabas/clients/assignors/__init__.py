"""Assignors: strategies by which the leader of a group assigns partitions to its members."""

from barnabas.clients.assignors.port import Assignor, MemberSubscription
from barnabas.clients.assignors.stateless import RangeAssignor, RoundRobinAssignor
from barnabas.clients.assignors.sticky import CooperativeStickyAssignor, StickyAssignor

__all__ = [
    "Assignor",
    "CooperativeStickyAssignor",
    "MemberSubscription",
    "RangeAssignor",
    "RoundRobinAssignor",
    "StickyAssignor",
]
