"""Counts the error codes in responses (Kafka's RequestMetrics ErrorsPerSec).

An error code can be at the top of a response or in one of its lists, at any depth. Where it can be
is computed once per response class, from the field table of the generated message; counting then
follows only those paths. Responses without an error add nothing, so the usual cost is one
comparison per partition.
"""

import sys
from collections.abc import Callable, Iterable
from typing import TypeAlias

from barnabas.model.error_codes import ErrorCode
from barnabas.runtime.metrics import CounterFamily
from barnabas.wire.message import Message, WireStruct

_FIELD = "error_code"

Collect: TypeAlias = Callable[[WireStruct, list[int]], None]
"""Appends the error codes of a struct that are not NONE."""


class ErrorCounts:
    """Counts errors by API; owned by the broker's loop."""

    def __init__(self, counters: CounterFamily) -> None:
        self._counters = counters
        self._collectors: dict[type[WireStruct], Collect | None] = {}

    def count(self, api_label: str, response: Message) -> None:
        """Counts the errors of a response."""
        kind = type(response)
        if kind not in self._collectors:
            self._collectors[kind] = _collector(kind)
        collect = self._collectors[kind]
        if collect is None:
            return
        found: list[int] = []
        collect(response, found)
        for code in found:
            self._counters.labels(api_label, _name(code)).value += 1


def _name(code: int) -> str:
    try:
        return ErrorCode(code).name
    except ValueError:
        return str(code)


def _collector(kind: type[WireStruct]) -> Collect | None:
    """Returns the function for a class; None if no field can hold an error code."""
    has_code = any(name == _FIELD for name, *_ in kind.FIELDS)
    lists = list(_lists(kind))
    if not has_code and not lists:
        return None

    def collect(struct: WireStruct, found: list[int]) -> None:
        if has_code:
            code = getattr(struct, _FIELD)
            if code:
                found.append(code)
        for name, inner in lists:
            for item in getattr(struct, name) or ():
                inner(item, found)

    return collect


def _lists(kind: type[WireStruct]) -> Iterable[tuple[str, Collect]]:
    """Yields the lists of structs below which there are error codes."""
    module = sys.modules[kind.__module__]
    for name, wire_type, *_ in kind.FIELDS:
        element = getattr(module, str(wire_type).strip("[]"), None)
        is_list = str(wire_type).startswith("[")
        if is_list and isinstance(element, type) and issubclass(element, WireStruct):
            inner = _collector(element)
            if inner is not None:
                yield name, inner
