"""A topology drawn: as a tree of text, or in Mermaid's language."""

from barnabas.streams.nodes import Node
from barnabas.streams.stages import Plan, plan
from barnabas.streams.topology import Topology


def as_text(topology: Topology) -> str:
    """Sources at the left, sinks at the ends of the branches, then the queries."""
    nodes = topology.nodes()
    numbers = {node: number for number, node in enumerate(nodes, 1)}
    children: dict[Node, list[Node]] = {node: [] for node in nodes}
    for node in nodes:
        for parent in dict.fromkeys(node.parents):
            children[parent].append(node)
    lines = [f"topology {topology.name}"]
    drawn: set[Node] = set()

    def draw(node: Node, indent: str, branch: str) -> None:
        again = " (above)" if node in drawn else ""
        lines.append(f"{indent}{branch}[{numbers[node]}] {node.label}{again}")
        if node in drawn:
            return
        drawn.add(node)
        below = indent + {"": "", "├─ ": "│  ", "└─ ": "   "}[branch]
        for child in children[node]:
            draw(child, below, "└─ " if child is children[node][-1] else "├─ ")

    for node in nodes:
        if not node.parents:
            draw(node, "  ", "")
    return "\n".join([*lines, *_queries(plan(topology), numbers)])


def as_mermaid(topology: Topology) -> str:
    """A flow chart; a query is a box around its nodes' names."""
    nodes = topology.nodes()
    numbers = {node: number for number, node in enumerate(nodes, 1)}
    lines = ["flowchart LR"]
    for node, number in numbers.items():
        label = node.label.replace('"', "'")
        shape = f'[("{label}")]' if node.is_table else f'["{label}"]'
        lines.append(f"  n{number}{shape}")
        lines.extend(f"  n{numbers[parent]} --> n{number}" for parent in node.parents)
    return "\n".join(lines)


def _queries(made: Plan, numbers: dict[Node, int]) -> list[str]:
    lines = ["queries"]
    for stage in made.stages:
        sinks = []
        for sink in stage.outputs:
            inner = "" if sink in numbers else " (internal)"
            sinks.append(f"{sink.label}{inner}")
        core = f" [{numbers[stage.core]}]" if stage.core else ""
        lines.append(f"  {stage.name}{core}: {', '.join(sinks)}")
    return lines
