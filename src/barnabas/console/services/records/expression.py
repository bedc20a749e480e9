"""A Python-like expression over one record, compiled from the syntax tree; nothing is evaluated by
Python itself.

Names: key, value, headers, offset, partition, timestamp, topic, size. `value` and `key` are JSON
values if they can be decoded, text otherwise; `value.user.id` and `value["user"]["id"]` read
members, and a member that does not exist is None. Operators: and or not, comparisons, in,
+ - * / // %, if else, indexes and slices. Functions: len, int, float, str, abs, min, max, any, all,
matches(text, pattern). Methods of text: lower, upper, strip, startswith, endswith.
`any(item.sku == "x" for item in value.items)` loops over a list.

The cost is bounded: the length of the text, the depth of the tree, the number of loop steps per
record, the size of repeated text (not supported) and the time of a regular expression. Python's own
regular expressions cannot be interrupted: a pattern such as (a+)+$ would occupy the console. The
package `regex` checks a deadline while it searches.
"""

import ast
import operator
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import regex

MAX_LENGTH = 2000
MAX_NODES = 300
MAX_STEPS = 10_000
NAMES = frozenset({"key", "value", "headers", "offset", "partition", "timestamp", "topic", "size"})
TIME_LIMIT_S = 0.25


class PatternError(ValueError):
    """The pattern is invalid or took too long."""


class BoundedPattern:
    """A compiled pattern."""

    def __init__(self, text: str) -> None:
        if len(text) > MAX_LENGTH:
            raise PatternError(f"the pattern has more than {MAX_LENGTH} characters")
        try:
            self._pattern = regex.compile(text)
        except (regex.error, RecursionError, OverflowError) as error:
            raise PatternError(f"{text!r} is not a regular expression: {error}") from None

    def found_in(self, text: str) -> bool:
        """Returns whether the pattern matches a part of the text.

        Raises:
            PatternError: The search took longer than TIME_LIMIT_S.
        """
        try:
            return self._pattern.search(text, timeout=TIME_LIMIT_S, concurrent=True) is not None
        except TimeoutError:
            raise PatternError(
                f"the pattern took longer than {TIME_LIMIT_S} s for one record; simplify it"
            ) from None


Scope = dict[str, Any]
Evaluate = Callable[[Scope], Any]
_STEPS = "#steps"
_UNMATCHED = (TypeError, ValueError, LookupError, ArithmeticError, AttributeError)

_COMPARE: dict[type[ast.cmpop], Callable[[Any, Any], object]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.In: lambda left, right: left in right,
    ast.NotIn: lambda left, right: left not in right,
    ast.Is: operator.is_,
    ast.IsNot: operator.is_not,
}
_ARITHMETIC: dict[type[ast.operator], Callable[[Any, Any], object]] = {
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}
_FUNCTIONS: dict[str, Callable[..., object]] = {
    "len": len,
    "int": int,
    "float": float,
    "str": str,
    "abs": abs,
    "min": min,
    "max": max,
    "any": any,
    "all": all,
}
_TEXT_METHODS: dict[str, Callable[..., object]] = {
    "lower": str.lower,
    "upper": str.upper,
    "strip": str.strip,
    "startswith": str.startswith,
    "endswith": str.endswith,
}


class ExpressionError(ValueError):
    """The expression is not supported; the text names the part."""


class Expression:
    """A compiled expression."""

    def __init__(self, text: str) -> None:
        if len(text) > MAX_LENGTH:
            raise ExpressionError(f"the expression has more than {MAX_LENGTH} characters")
        try:
            tree = ast.parse(text.strip(), mode="eval")
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            raise ExpressionError(f"the expression cannot be read: {error}") from None
        if sum(1 for _ in ast.walk(tree)) > MAX_NODES:
            raise ExpressionError("the expression has too many parts")
        self._evaluate = _Compiler().compile(tree.body)

    def matches(self, record: Mapping[str, object]) -> bool:
        """Returns whether the result is true.

        Raises:
            ValueError: The record cannot be evaluated, for example because of a comparison of text
                with a number.
            PatternError: A regular expression took too long.
        """
        try:
            return bool(self._evaluate({**record, _STEPS: MAX_STEPS}))
        except PatternError:
            raise
        except _UNMATCHED as error:
            raise ValueError(str(error)) from None


class _Compiler:
    """Turns nodes into functions of the scope; every kind of node must be listed here."""

    def __init__(self) -> None:
        self._local: set[str] = set()

    def compile(self, node: ast.expr) -> Evaluate:
        method = getattr(self, f"_{type(node).__name__.lower()}", None)
        if method is None:
            raise ExpressionError(f"{type(node).__name__} is not supported")
        made: Evaluate = method(node)
        return made

    def _constant(self, node: ast.Constant) -> Evaluate:
        value = node.value
        if not isinstance(value, str | int | float | bool | None):
            raise ExpressionError(f"the constant {value!r} is not supported")
        return lambda _scope: value

    def _name(self, node: ast.Name) -> Evaluate:
        name = node.id
        if name in ("true", "false", "null"):
            value = {"true": True, "false": False, "null": None}[name]
            return lambda _scope: value
        if name not in NAMES and name not in self._local:
            known = ", ".join(sorted(NAMES))
            raise ExpressionError(f"the name {name!r} is unknown; names are {known}")
        return lambda scope: scope[name]

    def _boolop(self, node: ast.BoolOp) -> Evaluate:
        parts = [self.compile(item) for item in node.values]
        if isinstance(node.op, ast.And):
            return lambda scope: all(part(scope) for part in parts)
        return lambda scope: any(part(scope) for part in parts)

    def _unaryop(self, node: ast.UnaryOp) -> Evaluate:
        inner = self.compile(node.operand)
        if isinstance(node.op, ast.Not):
            return lambda scope: not inner(scope)
        if isinstance(node.op, ast.USub):
            return lambda scope: -inner(scope)
        raise ExpressionError("the operator is not supported")

    def _binop(self, node: ast.BinOp) -> Evaluate:
        left, right = self.compile(node.left), self.compile(node.right)
        if isinstance(node.op, ast.Add):
            return lambda scope: _add(left(scope), right(scope))
        apply = _ARITHMETIC.get(type(node.op))
        if apply is None:
            raise ExpressionError(f"the operator {type(node.op).__name__} is not supported")
        return lambda scope: apply(_number(left(scope)), _number(right(scope)))

    def _compare(self, node: ast.Compare) -> Evaluate:
        first = self.compile(node.left)
        rest = [
            (_COMPARE[type(op)], self.compile(item))
            for op, item in zip(node.ops, node.comparators, strict=True)
        ]

        def compare(scope: Scope) -> bool:
            left = first(scope)
            for apply, evaluate in rest:
                right = evaluate(scope)
                if not apply(left, right):
                    return False
                left = right
            return True

        return compare

    def _ifexp(self, node: ast.IfExp) -> Evaluate:
        test, then, other = (self.compile(item) for item in (node.test, node.body, node.orelse))
        return lambda scope: then(scope) if test(scope) else other(scope)

    def _list(self, node: ast.List | ast.Tuple | ast.Set) -> Evaluate:
        items = [self.compile(item) for item in node.elts]
        return lambda scope: [item(scope) for item in items]

    _tuple = _list
    _set = _list

    def _attribute(self, node: ast.Attribute) -> Evaluate:
        inner, name = self.compile(node.value), node.attr
        return lambda scope: _member(inner(scope), name)

    def _subscript(self, node: ast.Subscript) -> Evaluate:
        inner = self.compile(node.value)
        if isinstance(node.slice, ast.Slice):
            return self._slice(inner, node.slice)
        index = self.compile(node.slice)
        return lambda scope: _member(inner(scope), index(scope))

    def _slice(self, inner: Evaluate, part: ast.Slice) -> Evaluate:
        nothing: Evaluate = lambda _scope: None  # noqa: E731
        lower, upper = (
            nothing if item is None else self.compile(item) for item in (part.lower, part.upper)
        )
        if part.step is not None:
            raise ExpressionError("a step in a slice is not supported")
        return lambda scope: inner(scope)[lower(scope) : upper(scope)]

    def _call(self, node: ast.Call) -> Evaluate:
        if node.keywords:
            raise ExpressionError("named arguments are not supported")
        if isinstance(node.func, ast.Attribute):
            return self._method(node.func, node.args)
        if not isinstance(node.func, ast.Name):
            raise ExpressionError("only the listed functions can be called")
        if node.func.id == "matches":
            return self._matches(node.args)
        function = _FUNCTIONS.get(node.func.id)
        if function is None:
            known = ", ".join(sorted((*_FUNCTIONS, "matches")))
            raise ExpressionError(
                f"the function {node.func.id!r} is unknown; functions are {known}"
            )
        arguments = [self.compile(item) for item in node.args]
        return lambda scope: function(*(item(scope) for item in arguments))

    def _method(self, function: ast.Attribute, given: list[ast.expr]) -> Evaluate:
        method = _TEXT_METHODS.get(function.attr)
        if method is None:
            known = ", ".join(_TEXT_METHODS)
            raise ExpressionError(f"the method {function.attr!r} is unknown; methods are {known}")
        inner = self.compile(function.value)
        arguments = [self.compile(item) for item in given]
        return lambda scope: method(inner(scope), *(item(scope) for item in arguments))

    def _matches(self, given: list[ast.expr]) -> Evaluate:
        if len(given) != 2 or not isinstance(given[1], ast.Constant):
            raise ExpressionError("matches takes a text and a pattern in quotes")
        pattern = BoundedPattern(str(given[1].value))
        text = self.compile(given[0])
        return lambda scope: pattern.found_in(str(text(scope)))

    def _generatorexp(self, node: ast.GeneratorExp | ast.ListComp) -> Evaluate:
        if len(node.generators) != 1 or not isinstance(node.generators[0].target, ast.Name):
            raise ExpressionError("only one loop over one name is supported")
        loop = node.generators[0]
        source = self.compile(loop.iter)
        assert isinstance(loop.target, ast.Name)
        name = loop.target.id
        if name in NAMES or name in self._local:
            raise ExpressionError(f"the name {name!r} is used already")
        self._local.add(name)
        body = self.compile(node.elt)
        tests = [self.compile(item) for item in loop.ifs]
        self._local.discard(name)

        def loop_over(scope: Scope) -> Iterable[object]:
            for item in _items(source(scope)):
                scope[_STEPS] -= 1
                if scope[_STEPS] < 0:
                    raise ValueError(f"more than {MAX_STEPS} loop steps for one record")
                scope[name] = item
                if all(test(scope) for test in tests):
                    yield body(scope)

        return loop_over

    def _listcomp(self, node: ast.ListComp) -> Evaluate:
        loop_over = self._generatorexp(node)
        return lambda scope: list(loop_over(scope))


def _member(value: object, name: object) -> object:
    """Returns a member of an object or an item of a list; None if it does not exist."""
    if isinstance(value, dict):
        return value.get(name)
    if isinstance(value, list | str) and isinstance(name, int):
        return value[name] if -len(value) <= name < len(value) else None
    return None


def _items(value: object) -> Iterable[object]:
    if isinstance(value, list | dict):
        return value
    raise TypeError("a loop needs a list or an object")


def _add(left: object, right: object) -> object:
    if isinstance(left, str) and isinstance(right, str):
        return left + right
    return _number(left) + _number(right)


def _number(value: object) -> int | float:
    if isinstance(value, int | float):
        return value
    raise TypeError(f"a number is needed, not {type(value).__name__}")
