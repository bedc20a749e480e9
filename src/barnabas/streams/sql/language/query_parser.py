"""Parses a SELECT: sqlglot parses it except for the streaming clauses, which are parsed here.

Clauses that sqlglot does not support are replaced by blanks before it parses the text, so that the
positions it reports are correct in the original. They are searched outside parentheses only:
`PARTITION BY` within an OVER (…) is Spark's own.
"""

from collections.abc import Sequence

import sqlglot
from sqlglot import Token, TokenType, exp
from sqlglot.errors import ParseError

from barnabas.streams.sql.language.dialect import BarnabasSql, TokenCursor, parse_duration
from barnabas.streams.sql.language.errors import SqlError
from barnabas.streams.sql.language.statements import (
    EmitClause,
    Query,
    WindowClause,
    WindowKind,
    Within,
)

LAMBDA_FUNCTIONS = frozenset(
    [
        "transform",
        "filter",
        "exists",
        "forall",
        "aggregate",
        "reduce",
        "zip_with",
        "map_filter",
        "transform_keys",
        "transform_values",
        "map_zip_with",
        "array_sort",
    ]
)
_REWRITTEN: dict[tuple[TokenType, str], str] = {
    **{(TokenType.FARROW, name): "->" for name in LAMBDA_FUNCTIONS},
    (TokenType.COLON_EQ, "map"): ", ",
}
"""Replacements of the same length: `=>` of a lambda and `:=` of MAP('key' := value)."""
_AFTER_PARTITION_BY = (
    ("WHERE",),
    ("GROUP", "BY"),
    ("HAVING",),
    ("EMIT",),
    ("LIMIT",),
    ("WINDOW",),
    ("ORDER", "BY"),
)


def parse_query(text: str, tokens: Sequence[Token]) -> Query:
    """Returns the query of these tokens of `text`."""
    return _QueryReader(text, tokens).read()


class _QueryReader:
    def __init__(self, text: str, tokens: Sequence[Token]) -> None:
        self.text = text
        self.cursor = TokenCursor(text, tokens)
        self.start = int(tokens[0].start)
        self.end = int(tokens[-1].end) + 1
        self.canvas = _blank(text, self.start, self.end)
        self.window: WindowClause | None = None
        self.withins: list[Within | None] = []
        self.partition_by: tuple[exp.Expr, ...] = ()
        self.emit: EmitClause | None = None

    def read(self) -> Query:
        _fields_of_structs(self.canvas, self.cursor.tokens)
        self._take_clauses()
        tree = _parse("".join(self.canvas), self.text)
        if not isinstance(tree, exp.Query):
            raise SqlError("expected a query", self.text, self.start)
        if isinstance(tree, exp.Select) and not tree.expressions:
            raise SqlError("expected columns to select, found the end", self.text, self.end)
        return Query(
            text=self.text,
            position=self.start,
            tree=tree,
            window=self.window,
            withins=tuple(self.withins),
            partition_by=self.partition_by,
            emit=self.emit,
        )

    def _take_clauses(self) -> None:
        depth = 0
        while (token := self.cursor.token) is not None:
            depth += _depth_change(token)
            if depth == 0 and self._take_clause():
                continue
            self.cursor.index += 1

    def _take_clause(self) -> bool:
        """Reads one streaming clause, if it is next, and replaces it by blanks."""
        cursor = self.cursor
        begin = cursor.index
        if cursor.peek("JOIN"):
            self.withins.append(None)
            return False
        if any(cursor.peek("WINDOW", kind.value) for kind in WindowKind):
            self.window = _window(cursor)
        elif cursor.peek("WITHIN") and self.withins:
            self.withins[-1] = _within(cursor)
        elif cursor.peek("PARTITION", "BY"):
            self._partition_by()
        elif self._is_emit():
            cursor.expect("EMIT")
            self.emit = EmitClause(cursor.one_of("CHANGES", "FINAL"))
        else:
            return False
        self._blank_out(begin, cursor.index)
        return True

    def _is_emit(self) -> bool:
        """Returns whether EMIT is a clause here; it can also be the name of a column."""
        cursor = self.cursor
        following = cursor.tokens[cursor.index + 1 : cursor.index + 2]
        return cursor.peek("EMIT") and bool(following) and following[0].token_type is TokenType.VAR

    def _partition_by(self) -> None:
        cursor = self.cursor
        begin = cursor.position
        cursor.expect("PARTITION", "BY")
        first, depth = cursor.index, 0
        while (token := cursor.token) is not None:
            if depth == 0 and any(cursor.peek(*words) for words in _AFTER_PARTITION_BY):
                break
            depth += _depth_change(token)
            cursor.index += 1
        if first == cursor.index:
            cursor.fail(f"expected expressions after PARTITION BY, {cursor.found}")
        end = int(cursor.tokens[cursor.index - 1].end) + 1
        self.partition_by = _expressions(self.text, begin, end, cursor.tokens[first : cursor.index])

    def _blank_out(self, first: int, stop: int) -> None:
        tokens = self.cursor.tokens
        begin, end = int(tokens[first].start), int(tokens[stop - 1].end) + 1
        self.canvas[begin:end] = _blank(self.text[begin:end], 0, 0)


def _window(cursor: TokenCursor) -> WindowClause:
    cursor.expect("WINDOW")
    kind = WindowKind(cursor.one_of(*(item.value for item in WindowKind)))
    cursor.expect("(")
    if kind is not WindowKind.SESSION:
        cursor.expect("SIZE")
    size, advance, grace = parse_duration(cursor), None, None
    while cursor.accept(","):
        match cursor.one_of("ADVANCE", "GRACE", "RETENTION"):
            case "ADVANCE":
                if kind is not WindowKind.HOPPING:
                    cursor.fail("ADVANCE BY needs a HOPPING window")
                cursor.expect("BY")
                advance = parse_duration(cursor)
            case "GRACE":
                cursor.expect("PERIOD")
                grace = parse_duration(cursor)
            case _:  # RETENTION has no effect: Spark deletes state by the watermark
                parse_duration(cursor)
    if kind is WindowKind.HOPPING and advance is None:
        cursor.fail("a HOPPING window needs ADVANCE BY; without it, use TUMBLING")
    cursor.expect(")")
    return WindowClause(kind, size, advance, grace)


def _within(cursor: TokenCursor) -> Within:
    cursor.expect("WITHIN")
    if cursor.accept("("):
        before = parse_duration(cursor)
        cursor.expect(",")
        after = parse_duration(cursor)
        cursor.expect(")")
    else:
        before = after = parse_duration(cursor)
    grace = None
    if cursor.accept("GRACE", "PERIOD"):
        grace = parse_duration(cursor)
    return Within(before, after, grace)


def parse_expressions(text: str, tokens: Sequence[Token]) -> tuple[exp.Expr, ...]:
    """Parses expressions that are separated by commas, such as a row of VALUES.

    The word SELECT is written over the characters before them, so that sqlglot reports positions
    of the user's text: `text` needs at least seven characters there.
    """
    begin = int(tokens[0].start) - len("SELECT ")
    return _expressions(text, begin, int(tokens[-1].end) + 1, tokens)


def _expressions(text: str, begin: int, end: int, tokens: Sequence[Token]) -> tuple[exp.Expr, ...]:
    """Parses expressions as the columns of a SELECT, whose keyword overwrites the text before
    them."""
    first = int(tokens[0].start)
    canvas = _blank(text, first, end)
    _fields_of_structs(canvas, tokens)
    canvas[begin : begin + len("SELECT")] = "SELECT"
    return tuple(_parse("".join(canvas), text).expressions)


def _parse(canvas: str, text: str) -> exp.Expr:
    try:
        tree: exp.Expr = sqlglot.parse_one(canvas, dialect=BarnabasSql)
    except ParseError as error:
        raise _located(error, text) from error
    except (IndexError, ValueError, AttributeError, KeyError) as error:
        # sqlglot's function builders do not check the number of arguments.
        begin = len(canvas) - len(canvas.lstrip())
        raise SqlError("a function has too few or wrong arguments", text, begin) from error
    return tree


def _located(error: ParseError, text: str) -> SqlError:
    detail = error.errors[0] if error.errors else {}
    reason = _readable(str(detail.get("description") or error))
    line, column = detail.get("line"), detail.get("col")
    if line is None or column is None:
        return SqlError(reason, text, 0)
    highlight = str(detail.get("highlight") or "")
    begin = sum(len(row) for row in text.splitlines(keepends=True)[: line - 1])
    return SqlError(reason, text, max(begin, begin + column - max(len(highlight), 1)))


def _readable(description: str) -> str:
    """Returns sqlglot's reason as one line, without its internal names."""
    reason = description.split(". ")[0].split(" but got ")[0].rstrip(".")
    if reason.startswith("Required keyword"):
        return "an expression or a keyword is missing here"
    if reason.startswith("Invalid expression"):
        return "unexpected text"
    return reason[:1].lower() + reason[1:]


def _blank(text: str, begin: int, end: int) -> list[str]:
    """Returns the text with blanks outside a part; line breaks stay."""
    return [
        char if begin <= index < end or char == "\n" else " " for index, char in enumerate(text)
    ]


def _depth_change(token: Token) -> int:
    if token.token_type is TokenType.L_PAREN:
        return 1
    return -1 if token.token_type is TokenType.R_PAREN else 0


def _fields_of_structs(canvas: list[str], tokens: Sequence[Token]) -> None:
    """Replaces `->` by a dot, except in lambdas, and applies `_REWRITTEN`."""
    functions: list[str] = []
    for index, token in enumerate(tokens):
        function = functions[-1] if functions else ""
        if token.token_type is TokenType.L_PAREN:
            functions.append(tokens[index - 1].text.lower() if index else "")
        elif token.token_type is TokenType.R_PAREN and functions:
            functions.pop()
        elif token.token_type is TokenType.ARROW and not _is_lambda(tokens, index, functions):
            start = int(token.start)
            canvas[start : start + 2] = [".", " "]
        elif (written := _REWRITTEN.get((token.token_type, function))) is not None:
            start = int(token.start)
            canvas[start : start + 2] = list(written)


def _is_lambda(tokens: Sequence[Token], index: int, functions: list[str]) -> bool:
    if not functions or functions[-1] not in LAMBDA_FUNCTIONS or index < 2:
        return False
    return (
        tokens[index - 1].token_type is TokenType.R_PAREN
        or tokens[index - 2].token_type is TokenType.COMMA
    )
