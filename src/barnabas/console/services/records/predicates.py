"""Conditions of a search: text, regular expression, JSON path, expression.

A condition is compiled once, before the search starts, so that a mistake in it is an error of the
request. Each has a bounded cost per record.
"""

import json
from collections.abc import Callable
from typing import Any

from barnabas.console.models.records import SearchQuery
from barnabas.console.services.records.decoding import Decoded, DecodedRecord
from barnabas.console.services.records.expression import (
    BoundedPattern,
    Expression,
    ExpressionError,
    PatternError,
)
from barnabas.console.services.records.log_entries import LogEntry
from barnabas.model.errors import LocalError

Condition = Callable[[LogEntry, DecodedRecord], bool]
_MAX_DESCENDANTS = 2
_STRUCTURED = frozenset({"json", "avro", "protobuf", "internal"})


class InvalidSearchError(LocalError):
    """The condition of a search cannot be compiled, or takes too long."""


def compile_condition(query: SearchQuery) -> Condition:
    """Returns the condition of a query.

    The condition raises ValueError for a record that it cannot be evaluated on.

    Raises:
        InvalidSearchError: The condition is invalid.
    """
    makers = {"text": _text, "regex": _regex, "jsonpath": _json_path, "expression": _expression}
    try:
        return makers[query.kind](query.query)
    except (ExpressionError, PatternError) as error:
        raise InvalidSearchError(str(error)) from None


def _text(text: str) -> Condition:
    wanted = text.encode(errors="surrogateescape")
    lowered = text.lower()

    def found(data: bytes | None) -> bool:
        if data is None:
            return False
        return wanted in data or lowered in data.decode(errors="replace").lower()

    def condition(entry: LogEntry, decoded: DecodedRecord) -> bool:
        if found(entry.key) or found(entry.value):
            return True
        if any(lowered in name.lower() or found(value) for name, value in entry.headers):
            return True
        # Formats whose bytes are not the text that the page shows.
        return any(
            part.format in _STRUCTURED - {"json"} and lowered in part.text().lower()
            for part in (decoded.key, decoded.value)
        )

    return condition


def _regex(text: str) -> Condition:
    pattern = BoundedPattern(text)

    def condition(entry: LogEntry, decoded: DecodedRecord) -> bool:
        texts = [_search_text(entry.key, decoded.key), _search_text(entry.value, decoded.value)]
        for name, value in entry.headers:
            texts.append(f"{name}={(value or b'').decode(errors='backslashreplace')}")
        return any(pattern.found_in(item) for item in texts if item)

    return condition


def _search_text(data: bytes | None, decoded: Decoded) -> str:
    if data is None:
        return ""
    if decoded.format in _STRUCTURED - {"json"}:
        return decoded.text()
    return data.decode(errors="backslashreplace")


def _json_path(text: str) -> Condition:
    # Start-up time: only for searches by JSON path.
    from jsonpath import JSONPathEnvironment, JSONPathError

    environment = JSONPathEnvironment(strict=True)
    # Both search with Python's own regular expressions, which have no time limit.
    for name in ("match", "search"):
        environment.function_extensions.pop(name, None)
    if text.count("..") > _MAX_DESCENDANTS:
        raise InvalidSearchError(f"a JSON path may have {_MAX_DESCENDANTS} '..' at most")
    try:
        path = environment.compile(text.strip())
    except (JSONPathError, RecursionError) as error:
        raise InvalidSearchError(f"{text!r} is not a JSON path: {error}") from None

    def condition(_entry: LogEntry, decoded: DecodedRecord) -> bool:
        if decoded.value.format not in _STRUCTURED:
            return False
        try:
            return next(iter(path.finditer(_plain(decoded.value.value))), None) is not None
        except (JSONPathError, RecursionError) as error:
            raise ValueError(str(error)) from None

    return condition


def _expression(text: str) -> Condition:
    expression = Expression(text)

    def condition(entry: LogEntry, decoded: DecodedRecord) -> bool:
        return expression.matches(
            {
                "key": _value(entry.key, decoded.key),
                "value": _value(entry.value, decoded.value),
                "headers": {
                    name: None if value is None else value.decode(errors="backslashreplace")
                    for name, value in entry.headers
                },
                "offset": entry.offset,
                "partition": entry.partition,
                "timestamp": entry.timestamp,
                "topic": entry.topic,
                "size": entry.size_bytes,
            }
        )

    return condition


def _value(data: bytes | None, decoded: Decoded) -> Any:
    if data is None:
        return None
    return decoded.value if decoded.format != "hex" else data.decode(errors="backslashreplace")


def _plain(value: Any) -> Any:
    """Returns a value with text for the types that Avro has and JSON lacks (dates, decimals)."""
    if isinstance(value, dict | list):
        return json.loads(json.dumps(value, default=str))
    return value
