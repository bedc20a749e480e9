"""From a topology to queries: where the graph is cut, what each query reads and writes. Pure.

A query holds at most one stateful node. Where the result of one feeds another, it goes through a
topic, which is compacted when it is a table's: the table's changelog. So each query has its own
checkpoint and its own exactly-once sink, and a chain of them is exactly once from end to end.
"""

from dataclasses import dataclass, field

from barnabas.streams.nodes import (
    Aggregate,
    Fold,
    Join,
    Node,
    RecordSource,
    Sink,
    Source,
    Through,
    Topic,
    TopicSink,
)
from barnabas.streams.topology import Topology
from barnabas.streams.windows import Emit, Shape

STATEFUL = (Aggregate, Fold, Join)


@dataclass(frozen=True, slots=True, eq=False)
class Stage:
    """One streaming query. `core` is its stateful node; the outputs' nodes come after it."""

    name: str
    core: Node | None
    outputs: tuple[Sink, ...]

    @property
    def reads(self) -> list[Node]:
        """Sources and cuts the query reads, in a fixed order."""
        roots = self.core.parents if self.core else tuple(sink.parent for sink in self.outputs)
        found = dict.fromkeys(root for parent in roots for root in roots_of(parent))
        return list(found)


@dataclass(frozen=True, slots=True, eq=False)
class Plan:
    """The queries in the order they depend on each other, and the topics where the graph is cut."""

    stages: tuple[Stage, ...]
    cuts: dict[Node, Topic]

    def stage_of(self, node: Node) -> Stage | None:
        for stage in self.stages:
            if stage.core is node:
                return stage
        return None


@dataclass(slots=True, eq=False)
class _Draft:
    core: Node | None
    outputs: list[Sink] = field(default_factory=list)


def plan(topology: Topology) -> Plan:
    """Cut a topology into queries."""
    cuts = _cuts(topology)
    drafts: dict[object, _Draft] = {}
    for sink in topology.sinks:
        _draft_of(drafts, sink.parent).outputs.append(sink)
    for node, topic in cuts.items():
        written = node.parent if isinstance(node, Through) else node
        _draft_of(drafts, written).outputs.append(TopicSink(written, topic))
    return Plan(tuple(_named(_ordered(list(drafts.values()), cuts))), cuts)


def roots_of(node: Node) -> list[Node]:
    """What a node's rows come from without state in between: sources, cuts, stateful nodes."""
    if isinstance(node, (Source, RecordSource, Through, *STATEFUL)):
        return [node]
    found = dict.fromkeys(root for parent in node.parents for root in roots_of(parent))
    return list(found)


def is_native(node: Node) -> bool:
    """Whether Spark's own streaming operators do it; otherwise its state is kept by us."""
    if isinstance(node, Aggregate):
        shape = node.window.shape if node.window else None
        changing_session = shape is Shape.SESSION and node.emit is Emit.CHANGES
        ours = node.late_topic is not None or shape is Shape.SLIDING or changing_session
        return not ours and not node.parent.is_table
    return isinstance(node, Join) and not any(parent.is_table for parent in node.parents)


def _cuts(topology: Topology) -> dict[Node, Topic]:
    """Throughs, and stateful nodes that something stateful, or a mixture, reads."""
    nodes = topology.nodes()
    cut: dict[Node, None] = {}
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
    made = [node for node in nodes if node in cut and not isinstance(node, Source | RecordSource)]
    return {node: _cut_topic(topology, number, node) for number, node in enumerate(made, 1)}


def _cut_topic(topology: Topology, number: int, node: Node) -> Topic:
    if isinstance(node, Through) and node.topic is not None:
        return node.topic
    kind = "changelog" if node.is_table else "repartition"
    return Topic(f"{topology.name}-{number}-{kind}")


def _draft_of(drafts: dict[object, _Draft], node: Node) -> _Draft:
    """The query whose rows a node's are: of a stateful node, of one source, or of a mixture."""
    roots = roots_of(node)
    key = roots[0] if len(roots) == 1 else node
    core = key if isinstance(key, STATEFUL) and len(roots) == 1 else None
    return drafts.setdefault(key, _Draft(core))


def _ordered(drafts: list[_Draft], cuts: dict[Node, Topic]) -> list[_Draft]:
    """Writers before readers; what goes in a circle keeps its place."""
    writers: dict[str, _Draft] = {}
    for draft in drafts:
        for sink in draft.outputs:
            if isinstance(sink, TopicSink):
                writers.setdefault(sink.topic.name, draft)
    done: dict[_Draft, None] = {}
    begun: set[_Draft] = set()

    def visit(draft: _Draft) -> None:
        if draft in begun:
            return
        begun.add(draft)
        for name in _topics_read(draft, cuts):
            if name in writers:
                visit(writers[name])
        done[draft] = None

    for draft in drafts:
        visit(draft)
    return list(done)


def _topics_read(draft: _Draft, cuts: dict[Node, Topic]) -> list[str]:
    names = []
    for node in Stage("", draft.core, tuple(draft.outputs)).reads:
        topic = node.topic if isinstance(node, Source) else cuts.get(node)
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
