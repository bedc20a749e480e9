"""Splits a topology into streaming queries: what each query reads and writes. Pure.

A query has at most one stateful node. If its result is the input of another stateful node, it is
written to an internal topic; for a table this topic is compacted and is the table's changelog. So
each query has its own checkpoint and its own exactly-once sink, and a chain of queries is exactly
once from end to end.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from barnabas.model.errors import LocalError
from barnabas.streams.nodes import (
    Aggregate,
    Fold,
    Join,
    RecordSource,
    RowSink,
    Sink,
    Through,
    Topic,
    TopicSource,
    TopologyNode,
    walk,
)
from barnabas.streams.windows import Emit, Shape

STATEFUL = (Aggregate, Fold, Join)


class LostStateError(LocalError):
    """The checkpoint or the state of a query is lost, so that its results would be wrong.

    `Runner(..., lost_state="rebuild")` computes them again from the source topics.
    """


@dataclass(frozen=True, slots=True, eq=False)
class Stage:
    """One streaming query: its stateful node `core`, if any, and its sinks."""

    name: str
    core: TopologyNode | None
    outputs: tuple[Sink, ...]

    @property
    def reads(self) -> list[TopologyNode]:
        """The sources and cuts that the query reads, in a fixed order."""
        roots = self.core.parents if self.core else tuple(sink.parent for sink in self.outputs)
        found = dict.fromkeys(root for parent in roots for root in roots_of(parent))
        return list(found)


@dataclass(frozen=True, slots=True, eq=False)
class Plan:
    """The queries in the order of their dependencies, and the internal topics between them
    (cuts)."""

    stages: tuple[Stage, ...]
    cuts: dict[TopologyNode, Topic]


@dataclass(slots=True, eq=False)
class _Draft:
    core: TopologyNode | None
    outputs: list[Sink] = field(default_factory=list)


@dataclass(slots=True)
class Trigger:
    """When micro-batches start: once for all available records, or repeatedly."""

    available_now: bool = True
    interval: str | None = None

    def apply(self, writer: Any) -> Any:
        if self.available_now:
            return writer.trigger(availableNow=True)
        return writer.trigger(processingTime=self.interval or "0 seconds")


def plan_stages(name: str, sinks: Sequence[Sink]) -> Plan:
    """Splits the nodes that lead to `sinks` into queries.

    Args:
        name: The name of the topology; the internal topics start with it.
        sinks: The sinks of the topology.
    """
    cuts = _cuts(name, list(walk(sinks)))
    drafts: dict[object, _Draft] = {}
    for sink in sinks:
        _draft_of(drafts, sink.parent).outputs.append(sink)
    for node, topic in cuts.items():
        written = node.parent if isinstance(node, Through) else node
        _draft_of(drafts, written).outputs.append(RowSink(written, topic))
    return Plan(tuple(_named(_ordered(list(drafts.values()), cuts))), cuts)


def roots_of(node: TopologyNode) -> list[TopologyNode]:
    """Returns the nearest sources, cuts and stateful nodes that a node's rows come from."""
    if isinstance(node, (TopicSource, RecordSource, Through, *STATEFUL)):
        return [node]
    found = dict.fromkeys(root for parent in node.parents for root in roots_of(parent))
    return list(found)


def is_native(node: TopologyNode) -> bool:
    """Returns whether Spark's own streaming operators run a node; otherwise `engine.state` has its
    state.
    """
    if isinstance(node, Aggregate):
        shape = node.window.shape if node.window else None
        changing_session = shape is Shape.SESSION and node.emit is Emit.CHANGES
        ours = node.late_topic is not None or shape is Shape.SLIDING or changing_session
        # Spark has no sliding windows by record and no retractions of table rows, does not
        # support session windows in update mode, and drops late rows instead of returning them.
        return not ours and not node.parent.is_table
    return isinstance(node, Join) and not any(parent.is_table for parent in node.parents)


def _cuts(name: str, nodes: list[TopologyNode]) -> dict[TopologyNode, Topic]:
    """Returns `Through` nodes, and stateful nodes whose result another stateful node or a merge
    reads.
    """
    cut: dict[TopologyNode, None] = {}
    for node in nodes:
        if isinstance(node, STATEFUL):
            for parent in node.parents:
                cut.update(dict.fromkeys(roots_of(parent)))
        if isinstance(node, (Sink, Through)):
            roots = roots_of(node.parents[0])
            if len(roots) > 1:
                cut.update(dict.fromkeys(roots))
        if isinstance(node, Through):
            cut[node] = None
    made = [
        node for node in nodes if node in cut and not isinstance(node, TopicSource | RecordSource)
    ]
    return {node: _cut_topic(name, number, node) for number, node in enumerate(made, 1)}


def _cut_topic(name: str, number: int, node: TopologyNode) -> Topic:
    if isinstance(node, Through) and node.topic is not None:
        return node.topic
    # The names of Kafka Streams' internal topics.
    kind = "changelog" if node.is_table else "repartition"
    return Topic(f"{name}-{number}-{kind}")


def _draft_of(drafts: dict[object, _Draft], node: TopologyNode) -> _Draft:
    """Returns the query that produces a node's rows: of a stateful node, a source or a merge."""
    roots = roots_of(node)
    key = roots[0] if len(roots) == 1 else node
    core = key if isinstance(key, STATEFUL) and len(roots) == 1 else None
    return drafts.setdefault(key, _Draft(core))


def _ordered(drafts: list[_Draft], cuts: dict[TopologyNode, Topic]) -> list[_Draft]:
    """Sorts writers before readers; queries in a cycle keep their order."""
    writers: dict[str, _Draft] = {}
    for draft in drafts:
        for sink in draft.outputs:
            if isinstance(sink, RowSink):
                writers.setdefault(sink.topic.name, draft)
    done: dict[_Draft, None] = {}
    begun: set[_Draft] = set()

    def visit(draft: _Draft) -> None:
        if draft in begun:
            return
        # A topic that a topology both reads and writes makes a cycle. The order then does not
        # matter for correctness: Runner.run processes what is there, and the rest in the next
        # run.
        begun.add(draft)
        for name in _topics_read(draft, cuts):
            if name in writers:
                visit(writers[name])
        done[draft] = None

    for draft in drafts:
        visit(draft)
    return list(done)


def _topics_read(draft: _Draft, cuts: dict[TopologyNode, Topic]) -> list[str]:
    names = []
    for node in Stage("", draft.core, tuple(draft.outputs)).reads:
        topic = node.topic if isinstance(node, TopicSource) else cuts.get(node)
        if topic is not None:
            names.append(topic.name)
    return names


def _named(drafts: list[_Draft]) -> list[Stage]:
    return [
        Stage(
            f"{number}-{type(draft.core).__name__.lower() if draft.core else 'stateless'}",
            draft.core,
            tuple(draft.outputs),
        )
        for number, draft in enumerate(drafts, 1)
    ]
