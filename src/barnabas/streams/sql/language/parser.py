"""Parses statements: sqlglot parses queries, this module parses the rest from sqlglot's tokens."""

from collections.abc import Callable, Sequence

from sqlglot import Token, TokenType, exp
from sqlglot.errors import ParseError

from barnabas.streams.sql.language.dialect import BarnabasSql, TokenCursor, statements_of
from barnabas.streams.sql.language.errors import SqlError
from barnabas.streams.sql.language.query_parser import parse_expressions, parse_query
from barnabas.streams.sql.language.statements import (
    Column,
    Create,
    CreateAs,
    Describe,
    DropStatement,
    Explain,
    InsertSelect,
    InsertValues,
    KeyRole,
    Print,
    RelationKind,
    SelectStatement,
    SetProperty,
    Show,
    Statement,
    Terminate,
)

SHOWN = ("STREAMS", "TABLES", "TOPICS", "QUERIES", "PROPERTIES")


def parse_statements(text: str) -> list[Statement]:
    """Returns all statements of a text, separated by semicolons; SqlError has the position of an
    error.
    """
    return [_parse(text, tokens) for tokens in statements_of(text)]


def parse_statement(text: str) -> Statement:
    """Returns the single statement of a text."""
    found = parse_statements(text)
    if len(found) != 1:
        raise SqlError(f"expected one statement, found {len(found)}", text, 0)
    return found[0]


def _parse(text: str, tokens: Sequence[Token]) -> Statement:
    cursor = TokenCursor(text, tokens)
    token = tokens[0]
    word = token.text.upper()
    remedy = remedy_for([word for item in tokens[:2] for word in item.text.split()])
    if remedy is not None:
        cursor.fail(remedy)
    if token.token_type in (TokenType.STRING, TokenType.IDENTIFIER) or word not in _READERS:
        cursor.fail(f"no statement begins with {token.text!r}; known are {', '.join(_READERS)}")
    begin, end = int(token.start), int(tokens[-1].end) + 1
    return _READERS[word](cursor, text[begin:end], begin)


def _select(cursor: TokenCursor, text: str, position: int) -> Statement:
    return SelectStatement(text, position, parse_query(cursor.text, cursor.tokens))


def _create(cursor: TokenCursor, text: str, position: int) -> Statement:
    cursor.expect("CREATE")
    or_replace = cursor.accept("OR", "REPLACE")
    cursor.accept("SOURCE")  # ksqlDB's keyword for a relation without INSERT; no effect here
    kind = RelationKind(cursor.one_of("STREAM", "TABLE"))
    if_not_exists = cursor.accept("IF", "NOT", "EXISTS")
    name = cursor.name(f"the name of the {kind.value.lower()}")
    columns = _columns(cursor) if cursor.peek("(") else ()
    properties = _properties(cursor) if cursor.accept("WITH") else {}
    head = (text, position, kind, name, properties, or_replace, if_not_exists)
    if cursor.accept("AS"):
        if columns:
            raise SqlError("AS SELECT defines the columns: omit the list", cursor.text, position)
        if cursor.at_end:
            cursor.fail("expected SELECT, found the end")
        return CreateAs(*head, parse_query(cursor.text, cursor.tokens[cursor.index :]))
    cursor.finish()
    return Create(*head, columns)


def _columns(cursor: TokenCursor) -> tuple[Column, ...]:
    cursor.expect("(")
    found = [_column(cursor)]
    while cursor.accept(","):
        found.append(_column(cursor))
    cursor.expect(")")
    return tuple(found)


def _column(cursor: TokenCursor) -> Column:
    name = cursor.name("the name of a column")
    type_text = _type(cursor)
    role = KeyRole.NONE
    if cursor.accept("PRIMARY", "KEY"):
        role = KeyRole.PRIMARY
    elif cursor.accept("KEY"):
        role = KeyRole.KEY
    return Column(name, type_text, role)


def _type(cursor: TokenCursor) -> str:
    """Reads a type, up to the comma, parenthesis or KEY after it; returns Spark's text of it."""
    begin, depth = cursor.index, 0
    while (token := cursor.token) is not None:
        if depth == 0 and (token.text in (",", ")") or _is_key_word(token)):
            break
        if token.token_type is not TokenType.STRING:
            depth += sum(map(token.text.count, "<(")) - sum(map(token.text.count, ">)"))
        cursor.index += 1
    if begin == cursor.index:
        cursor.fail(f"expected the type of the column, {cursor.found}")
    first, last = cursor.tokens[begin], cursor.tokens[cursor.index - 1]
    written = cursor.text[int(first.start) : int(last.end) + 1]
    try:
        return spark_type(written)
    except (ParseError, ValueError) as error:
        raise SqlError(f"no type {written!r}", cursor.text, int(first.start)) from error


def _is_key_word(token: Token) -> bool:
    return token.text.upper().split()[0] in ("KEY", "PRIMARY")


def spark_type(written: str) -> str:
    """Returns Spark's text of a type.

    >>> spark_type("ARRAY<VARCHAR>")
    'ARRAY<STRING>'
    """
    built = exp.DataType.build(written, dialect=BarnabasSql)
    if built.find(exp.Identifier) and not built.find(exp.ColumnDef):
        raise ValueError(written)
    plain = built.transform(_without_length)
    return str(plain.sql(dialect=BarnabasSql))


def _without_length(node: exp.Expr) -> exp.Expr:
    """Converts VARCHAR(20) to STRING: Spark has lengths only in file tables."""
    if isinstance(node, exp.DataType) and node.this in exp.DataType.TEXT_TYPES:
        return exp.DataType(this=exp.DataType.Type.TEXT)
    return node


def _properties(cursor: TokenCursor) -> dict[str, str]:
    """Reads WITH (name=value, …); returns the names in lower case."""
    cursor.expect("(")
    found: dict[str, str] = {}
    while True:
        token = cursor.token
        name = (
            cursor.string("a name")
            if token is not None and token.token_type is TokenType.STRING
            else cursor.name("the name of a property")
        ).lower()
        if name in found:
            cursor.fail(f"{name} is given twice")
        cursor.expect("=")
        found[name] = _value(cursor)
        if not cursor.accept(","):
            break
    cursor.expect(")")
    return found


def _value(cursor: TokenCursor) -> str:
    sign = "-" if cursor.accept("-") else ""
    token = cursor.token
    kinds = (TokenType.STRING, TokenType.NUMBER, TokenType.TRUE, TokenType.FALSE)
    if token is None or token.token_type not in kinds:
        cursor.fail(f"expected a value, {cursor.found}")
    cursor.index += 1
    return sign + str(token.text)


def _insert(cursor: TokenCursor, text: str, position: int) -> Statement:
    if not cursor.accept("INSERT", "INTO"):
        cursor.expect("INSERT")
        cursor.expect("INTO")
    target = cursor.name("the name of a stream or table")
    columns: tuple[str, ...] = ()
    if cursor.accept("("):
        columns = _names(cursor)
    if not cursor.accept("VALUES"):
        if not cursor.peek("SELECT"):
            cursor.fail(f"expected VALUES or SELECT, {cursor.found}")
        if columns:
            cursor.fail("a column list needs VALUES: select all columns, in their order")
        query = parse_query(cursor.text, cursor.tokens[cursor.index :])
        return InsertSelect(text, position, target, query)
    rows = [_row(cursor)]
    while cursor.accept(","):
        rows.append(_row(cursor))
    cursor.finish()
    return InsertValues(text, position, target, columns, tuple(rows))


def _names(cursor: TokenCursor) -> tuple[str, ...]:
    found = [cursor.name("the name of a column")]
    while cursor.accept(","):
        found.append(cursor.name("the name of a column"))
    cursor.expect(")")
    return tuple(found)


def _row(cursor: TokenCursor) -> tuple[exp.Expr, ...]:
    cursor.expect("(")
    begin, depth = cursor.index, 0
    while not cursor.at_end and not (depth == 0 and cursor.peek(")")):
        assert cursor.token is not None
        depth += {"(": 1, ")": -1}.get(cursor.token.text, 0)
        cursor.index += 1
    if begin == cursor.index:
        cursor.fail(f"expected values, {cursor.found}")
    inner = cursor.tokens[begin : cursor.index]
    cursor.expect(")")
    return parse_expressions(cursor.text, inner)


def _show(cursor: TokenCursor, text: str, position: int) -> Statement:
    cursor.one_of("SHOW", "LIST")
    cursor.accept("ALL")
    what = cursor.one_of(*SHOWN)
    extended = cursor.accept("EXTENDED")
    cursor.finish()
    return Show(text, position, what, extended)


def _describe(cursor: TokenCursor, text: str, position: int) -> Statement:
    cursor.one_of("DESCRIBE", "DESC")
    extended = cursor.accept("EXTENDED")
    name = cursor.name("the name of a stream or table")
    extended = cursor.accept("EXTENDED") or extended
    cursor.finish()
    return Describe(text, position, name, extended)


def _print(cursor: TokenCursor, text: str, position: int) -> Statement:
    cursor.expect("PRINT")
    topic = _topic(cursor)
    from_beginning = cursor.accept("FROM", "BEGINNING")
    interval, limit = 1, None
    if cursor.accept("INTERVAL") or cursor.accept("SAMPLE"):
        interval = cursor.number("a number of records")
    if cursor.accept("LIMIT"):
        limit = cursor.number("a number of records")
    cursor.finish()
    return Print(text, position, topic, from_beginning, max(interval, 1), limit)


def _topic(cursor: TokenCursor) -> str:
    """Reads the name of a topic: quoted, or plain words joined by dots and dashes."""
    token = cursor.token
    if token is not None and token.token_type is TokenType.STRING:
        return cursor.string("a topic")
    begin = cursor.position
    end = begin
    while (token := cursor.token) is not None and (token.start == end or end == begin):
        end = int(token.end) + 1
        cursor.index += 1
    if end == begin:
        cursor.fail(f"expected the name of a topic, {cursor.found}")
    return cursor.text[begin:end].strip("`")


def _explain(cursor: TokenCursor, text: str, position: int) -> Statement:
    cursor.expect("EXPLAIN")
    rest = cursor.tokens[cursor.index :]
    if not rest:
        cursor.fail("expected a statement or the id of a query, found the end")
    if len(rest) == 1:
        return Explain(text, position, query_id=cursor.name("the id of a query"))
    return Explain(text, position, statement=_parse(cursor.text, rest))


def _terminate(cursor: TokenCursor, text: str, position: int) -> Statement:
    cursor.expect("TERMINATE")
    cursor.accept("QUERY")
    query_id = None if cursor.accept("ALL") else cursor.name("the id of a query")
    cursor.finish()
    return Terminate(text, position, query_id)


def _drop(cursor: TokenCursor, text: str, position: int) -> Statement:
    cursor.expect("DROP")
    kind = RelationKind(cursor.one_of("STREAM", "TABLE"))
    if_exists = cursor.accept("IF", "EXISTS")
    name = cursor.name(f"the name of the {kind.value.lower()}")
    delete_topic = cursor.accept("DELETE", "TOPIC")
    cursor.finish()
    return DropStatement(text, position, kind, name, if_exists, delete_topic)


def _set(cursor: TokenCursor, text: str, position: int) -> Statement:
    word = cursor.one_of("SET", "UNSET")
    name = cursor.string("the name of a property")
    value = None
    if word == "SET":
        cursor.expect("=")
        value = _value(cursor)
    cursor.finish()
    return SetProperty(text, position, name, value)


_READERS: dict[str, Callable[[TokenCursor, str, int], Statement]] = {
    "SELECT": _select,
    "CREATE": _create,
    "INSERT": _insert,
    "SHOW": _show,
    "LIST": _show,
    "DESCRIBE": _describe,
    "PRINT": _print,
    "EXPLAIN": _explain,
    "TERMINATE": _terminate,
    "DROP": _drop,
    "SET": _set,
    "UNSET": _set,
    "WITH": _select,
}


INSTEAD = {
    "ALTER": "CREATE OR REPLACE with all columns changes a stream or a table",
    "ASSERT": "`barnabas test` compares topics with expected records",
    "DEFINE": "replace variables before you run the script",
    "UNDEFINE": "replace variables before you run the script",
    "DELETE": "a record without a value deletes a table's row: `barnabas produce` sends one",
    "PAUSE": "TERMINATE ends a query; CREATE OR REPLACE … AS starts a new one",
    "RESUME": "an opened shell resumes earlier queries, and so does --keep-running",
    "RUN": "`barnabas sql FILE` runs a script",
    "SPOOL": "`barnabas sql -e … > FILE` writes results to a file",
    "UPDATE": "INSERT INTO … VALUES with a table's key replaces its row",
    "CREATE CONNECTOR": "Spark reads and writes other systems: see barnabas.spark",
    "CREATE TYPE": "write the type where it is used, as STRUCT<…>",
    "CREATE TOPIC": "`barnabas topics create` creates one, and so does WITH (partitions=…)",
    "DROP CONNECTOR": "connectors are not supported",
    "DROP TYPE": "named types are not supported",
    "SHOW CONNECTORS": "connectors are not supported",
    "SHOW FUNCTIONS": "all functions of Spark SQL are available; docs/sql.md lists the others",
    "SHOW TYPES": "named types are not supported",
    "SHOW VARIABLES": "variables are not supported; SHOW PROPERTIES lists the properties of SET",
    "DESCRIBE FUNCTION": "Spark's guide of built-in functions describes them",
}
"""Remedies for statements of ksqlDB and SQL that are not supported, by their first one or two
words."""


def remedy_for(words: list[str]) -> str | None:
    """Returns the remedy for a statement that begins with these words, or None if it is
    supported."""
    upper = [word.upper() for word in words[:2]]
    found = INSTEAD.get(" ".join(upper)) or INSTEAD.get(upper[0])
    return None if found is None else f"{' '.join(upper)} is not supported: {found}"
