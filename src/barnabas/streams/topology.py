"""A topology: sinks, all nodes that lead to them, and their drawing. Frozen and pure."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Literal

from barnabas.model.errors import ConfigError
from barnabas.streams.nodes import ErrorPolicy, OnError, RowSink, Sink, TopologyNode, walk
from barnabas.streams.stages import Plan, plan_stages


@dataclass(frozen=True, slots=True, eq=False)
class Function:
    """A vectorised Python function that expressions can call by its name.

    It receives and returns whole columns: pyarrow arrays, or pandas series with style "pandas".
    """

    name: str
    function: Callable[..., Any]
    returns: str
    style: Literal["arrow", "pandas"] = "arrow"

    def __call__(self, *arguments: object) -> Any:
        return self.function(*arguments)


def vectorised(
    returns: str, *, style: Literal["arrow", "pandas"] = "arrow", name: str | None = None
) -> Callable[[Callable[..., Any]], Function]:
    """Decorator for a function of columns that expressions can call.

    Args:
        returns: The Spark SQL type of the result.
        style: "arrow" or "pandas": the kind of columns that the function gets.
        name: The name in expressions; by default that of the function.

    >>> import pyarrow.compute as pc
    >>> @vectorised("string")
    ... def trimmed(column):
    ...     return pc.utf8_trim_whitespace(column)
    """

    def made(function: Callable[..., object]) -> Function:
        return Function(name or function.__name__, function, returns, style)

    return made


class Topology:
    """The computation of one application.

    Args:
        name: Part of the names of its internal topics and of its queries.
        sinks: The ends of its streams and tables, from `to()`, `view()` or `for_each()`.
        functions: Vectorised functions that its expressions call.
        on_error: The reaction to an exception of a Python function (`map`, `flat_map`, `filter`,
            `select_key`, `fold`): "stop" ends the query, "skip" leaves the row out and logs it,
            "dlq" writes it to the dead-letter topic. The `on_error` of a step takes precedence.
        dead_letter_topic: The dead-letter topic; `<name>.dlq` by default.

    Raises:
        ConfigError: The name, a sink or the error policy is not valid.

    Example:
        >>> from barnabas.streams import Stream
        >>> orders = Stream("orders", "user string, amount double")
        >>> Topology("large", orders.filter("amount > 100").to("large-orders"), on_error="dlq").name
        'large'
    """

    __slots__ = ("functions", "name", "on_error", "sinks")

    name: str
    sinks: tuple[Sink, ...]
    functions: tuple[Function, ...]
    on_error: ErrorPolicy

    def __init__(
        self,
        name: str,
        *sinks: Sink,
        functions: Iterable[Function] = (),
        on_error: OnError | None = None,
        dead_letter_topic: str | None = None,
    ) -> None:
        if not name or not all(char.isalnum() or char in "._-" for char in name):
            raise ConfigError(f"topology {name!r}: letters, digits, '.', '_' and '-' only")
        if not sinks:
            raise ConfigError(f"topology {name!r} has no sink: end it with to() or view()")
        for sink in sinks:
            if not isinstance(sink, Sink):
                raise ConfigError(f"{sink!r} is not a sink: end it with to(), view() or for_each()")
        object.__setattr__(self, "name", name)
        object.__setattr__(self, "sinks", tuple(sinks))
        object.__setattr__(self, "functions", tuple(functions))
        policy = ErrorPolicy.of(on_error, dead_letter_topic) or ErrorPolicy()
        object.__setattr__(self, "on_error", policy)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"cannot set {name}: a topology is frozen")

    def nodes(self) -> list[TopologyNode]:
        """Returns every node once, parents first, always in the same order."""
        return list(walk(self.sinks))

    def dead_letter_topic(self, policy: ErrorPolicy) -> str:
        """Returns the topic for the dead letters of a step with this policy."""
        return policy.topic or self.on_error.topic or f"{self.name}.dlq"

    def dead_letter_topics(self) -> set[str]:
        """Returns the dead-letter topics that the steps of this topology can write to."""
        policies = {getattr(node, "on_error", None) or self.on_error for node in self.nodes()}
        return {self.dead_letter_topic(policy) for policy in policies if policy.action == "dlq"}

    def written_topics(self) -> set[str]:
        """Returns the topics that the sinks write, without internal topics."""
        return {sink.topic.name for sink in self.sinks if isinstance(sink, RowSink)}

    def plan(self) -> Plan:
        """Returns the streaming queries that the topology is split into."""
        return plan_stages(self.name, self.sinks)

    def explain(self, style: Literal["text", "mermaid"] = "text") -> str:
        """Returns a drawing of the topology and its queries, as text or as a Mermaid flow chart."""
        return _as_mermaid(self) if style == "mermaid" else _as_text(self)


def _as_text(topology: Topology) -> str:
    """Draws sources on the left, sinks at the ends of the branches, then lists the queries."""
    nodes = topology.nodes()
    numbers = {node: number for number, node in enumerate(nodes, 1)}
    children: dict[TopologyNode, list[TopologyNode]] = {node: [] for node in nodes}
    for node in nodes:
        for parent in dict.fromkeys(node.parents):
            children[parent].append(node)
    lines = [f"topology {topology.name}"]
    drawn: set[TopologyNode] = set()

    def draw(node: TopologyNode, indent: str, branch: str) -> None:
        reference = " (above)" if node in drawn else ""
        lines.append(f"{indent}{branch}[{numbers[node]}] {node.label}{reference}")
        if node in drawn:
            return
        drawn.add(node)
        below = indent + {"": "", "├─ ": "│  ", "└─ ": "   "}[branch]
        for child in children[node]:
            draw(child, below, "└─ " if child is children[node][-1] else "├─ ")

    for node in nodes:
        if not node.parents:
            draw(node, "  ", "")
    return "\n".join([*lines, *_queries(topology.plan(), numbers)])


def _as_mermaid(topology: Topology) -> str:
    """Draws a flow chart."""
    nodes = topology.nodes()
    numbers = {node: number for number, node in enumerate(nodes, 1)}
    lines = ["flowchart LR"]
    for node, number in numbers.items():
        label = node.label.replace('"', "'")
        shape = f'[("{label}")]' if node.is_table else f'["{label}"]'
        lines.append(f"  n{number}{shape}")
        lines.extend(f"  n{numbers[parent]} --> n{number}" for parent in node.parents)
    return "\n".join(lines)


def _queries(made: Plan, numbers: dict[TopologyNode, int]) -> list[str]:
    lines = ["queries"]
    for stage in made.stages:
        sinks = []
        for sink in stage.outputs:
            internal = "" if sink in numbers else " (internal)"
            sinks.append(f"{sink.label}{internal}")
        core = f" [{numbers[stage.core]}]" if stage.core else ""
        lines.append(f"  {stage.name}{core}: {', '.join(sinks)}")
    return lines
