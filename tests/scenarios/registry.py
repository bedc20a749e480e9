"""Scenarios by name: what a user does, and what he observes according to Kafka's documentation."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

SINGLE = "single"
CLUSTER = "cluster"
KAFKA = "kafka"


@dataclass(frozen=True)
class Scenario:
    """`script(world)` returns observations by name; they are compared with `expected`."""

    name: str
    area: str
    title: str
    script: Callable[[Any], dict[str, Any]]
    expected: dict[str, Any]
    brokers: tuple[str, ...]
    tools: bool


SCENARIOS: dict[str, Scenario] = {}


def scenario(
    _brokers: tuple[str, ...] = (SINGLE, CLUSTER, KAFKA), _tools: bool = False, **expected: Any
) -> Callable[[Callable[[Any], dict[str, Any]]], Callable[[Any], dict[str, Any]]]:
    """Register a script under its function's name; the docstring is its title."""

    def register(script: Callable[[Any], dict[str, Any]]) -> Callable[[Any], dict[str, Any]]:
        name = script.__name__
        if name in SCENARIOS:
            raise ValueError(f"two scenarios are called {name}")
        area = script.__module__.rpartition(".")[2].removesuffix("_scripts")
        title = (script.__doc__ or "").strip()
        SCENARIOS[name] = Scenario(name, area, title, script, expected, _brokers, _tools)
        return script

    return register
