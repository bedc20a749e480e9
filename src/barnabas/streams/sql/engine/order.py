"""In which order queries run over what is there: those that feed others first."""

from collections.abc import Sequence
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter


@dataclass(frozen=True, slots=True)
class Flow:
    """A query, the topics it reads and the topic it writes."""

    query_id: str
    reads: frozenset[str]
    writes: str


def feeding_order(flows: Sequence[Flow]) -> list[str]:
    """The ids in order; where queries feed each other in a circle, in that of their definition.

    >>> one, two = Flow("one", frozenset("b"), "c"), Flow("two", frozenset("a"), "b")
    >>> feeding_order([one, two])
    ['two', 'one']
    """
    graph = {
        flow.query_id: [
            other.query_id for other in flows if other.writes in flow.reads and other is not flow
        ]
        for flow in flows
    }
    try:
        return list(TopologicalSorter(graph).static_order())
    except CycleError:
        return [flow.query_id for flow in flows]
