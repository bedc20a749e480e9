"""Translates expressions and ksqlDB's functions to Spark SQL.

A name that Spark has keeps Spark's meaning. `TEMPLATES` has the functions that Spark lacks, and
aggregates that Spark cannot compute in a stream. `{0}` is the first argument, `{order}` the order
in which the rows of a group arrived. A template belongs to a number of arguments.
"""

from collections.abc import Callable

import sqlglot
from sqlglot import exp

from barnabas.streams.sql.language.dialect import BarnabasSql
from barnabas.streams.sql.language.errors import SqlError, UnsupportedError
from barnabas.streams.sql.relations import close_name
from barnabas.streams.sql.translation.scope import at_node

Resolve = Callable[[exp.Column], str]
ARRIVAL = "struct(_offset, _timestamp)"
"""Orders the rows of a group by arrival: by offset, or by time if they have none."""


def spark_text(tree: exp.Expr, resolve: Resolve, order: str = ARRIVAL) -> str:
    """Returns Spark's text of an expression; `resolve` returns the text of a column."""

    def replaced(node: exp.Expr) -> exp.Expr:
        if isinstance(node, exp.Column) and not isinstance(node.this, exp.Star):
            return exp.Var(this=resolve(node))
        made = spark_function(node, order, lambda part: spark_text(part, resolve, order))
        return made if made is not None else node

    return str(_transformed(tree, replaced).sql(dialect=BarnabasSql))


def _transformed(tree: exp.Expr, replaced: Callable[[exp.Expr], exp.Expr]) -> exp.Expr:
    """Replaces nodes from the top down; replacements are not visited again."""
    try:
        made = replaced(tree)
    except SqlError as error:
        raise (error if error.position is not None else at_node(error, tree)) from None
    if made is not tree:
        return made
    copy = tree.copy()
    for name, value in list(copy.args.items()):
        if isinstance(value, exp.Expr):
            copy.set(name, _transformed(value, replaced))
        elif isinstance(value, list):
            items = [
                _transformed(item, replaced) if isinstance(item, exp.Expr) else item
                for item in value
            ]
            copy.set(name, items)
    return copy


def plain_text(tree: exp.Expr) -> str:
    """Returns the normalised text of an expression: equal texts are equal expressions."""
    return str(tree.sql(dialect=BarnabasSql)).lower()


def has_aggregate(tree: exp.Expr) -> bool:
    return any(is_aggregate(node) for node in tree.walk())


def check_replayable(tree: exp.Expr) -> None:
    """Raises UnsupportedError for random functions in a query that writes: a replay would
    differ."""
    for node in tree.walk():
        name = str(node.this) if isinstance(node, exp.Anonymous) else node.key
        if name.upper() in NONDETERMINISTIC_FUNCTIONS:
            reason = (
                f"{name.upper()} returns another value at each call: a batch that is replayed "
                "after a crash would differ. Let the producer of the topic set the value"
            )
            raise at_node(UnsupportedError(reason), node)


def output_name(item: exp.Expr, number: int) -> str:
    """Returns the name of a result column: its alias, its own name, or KSQL_COL_n."""
    if item.alias:
        return str(item.alias)
    if isinstance(item, exp.Column | exp.Dot):
        return str(item.name)
    return f"KSQL_COL_{number}"


def without_alias(item: exp.Expr) -> exp.Expr:
    return item.this if isinstance(item, exp.Alias) else item


_NEWEST = "sort_array(collect_list(struct({order} AS o, {0} AS x)) FILTER (WHERE {0} IS NOT NULL)"
_ARC = (
    "2 * asin(sqrt(power(sin(radians({2} - {0}) / 2), 2) + cos(radians({0})) * cos(radians({2})) * "
    "power(sin(radians({3} - {1}) / 2), 2)))"
)
"""The angle between two points on a sphere, by the haversine formula."""

TEMPLATES: dict[str, tuple[str, ...]] = {
    # text and numbers
    "LEN": ("length({0})",),
    "FIELD": (),  # any number of arguments, see `_field`
    "REGEXP_SPLIT_TO_ARRAY": ("split({0}, {1})",),
    "URL_EXTRACT_HOST": ("parse_url({0}, 'HOST')",),
    "URL_EXTRACT_PATH": ("parse_url({0}, 'PATH')",),
    "URL_EXTRACT_PROTOCOL": ("parse_url({0}, 'PROTOCOL')",),
    "URL_EXTRACT_QUERY": ("parse_url({0}, 'QUERY')",),
    "URL_EXTRACT_PARAMETER": ("parse_url({0}, 'QUERY', {1})",),
    "URL_ENCODE_PARAM": ("url_encode({0})",),
    "URL_DECODE_PARAM": ("url_decode({0})",),
    "GEO_DISTANCE": (
        "(6371 * " + _ARC + ")",
        "(if(upper({4}) LIKE 'M%', 3959, 6371) * " + _ARC + ")",
    ),
    # time: whole milliseconds since 1970, as ROWTIME is
    "TIMESTAMPTOSTRING": (
        "date_format(timestamp_millis({0}), {1})",
        "date_format(from_utc_timestamp(timestamp_millis({0}), {2}), {1})",
    ),
    "STRINGTOTIMESTAMP": (
        "unix_millis(try_to_timestamp({0}, {1}))",
        "unix_millis(to_utc_timestamp(try_to_timestamp({0}, {1}), {2}))",
    ),
    "FORMAT_TIMESTAMP": (
        "date_format({0}, {1})",
        "date_format(from_utc_timestamp({0}, {2}), {1})",
    ),
    "PARSE_TIMESTAMP": (
        "try_to_timestamp({0}, {1})",
        "to_utc_timestamp(try_to_timestamp({0}, {1}), {2})",
    ),
    "FORMAT_DATE": ("date_format({0}, {1})",),
    "PARSE_DATE": ("to_date({0}, {1})",),
    "DATETOSTRING": ("date_format(date_from_unix_date({0}), {1})",),
    "STRINGTODATE": ("unix_date(to_date({0}, {1}))",),
    # JSON, arrays, maps
    "EXTRACTJSONFIELD": ("get_json_object({0}, {1})",),
    "IS_JSON_STRING": ("(try_parse_json({0}) IS NOT NULL)",),
    "JSON_ARRAY_CONTAINS": (
        "array_contains(from_json({0}, 'array<string>'), cast({1} AS STRING))",
    ),
    "JSON_KEYS": ("json_object_keys({0})",),
    "TO_JSON_STRING": ("to_json({0})",),
    "ARRAY_LENGTH": ("size({0})",),
    "ARRAY_CONCAT": ("concat({0}, {1})",),
    "AS_MAP": ("map_from_arrays({0}, {1})",),
    "MAP_UNION": ("map_concat({0}, {1})",),
    "ENTRIES": ("map_entries({0})", "map_entries({0})"),
    "AS_VALUE": ("{0}",),
    # aggregates
    "COUNT_DISTINCT": ("cast(size(collect_set({0})) AS BIGINT)",),
    "TOPK": ("slice(sort_array(collect_list({0}), false), 1, {1})",),
    "TOPKDISTINCT": ("slice(sort_array(collect_set({0}), false), 1, {1})",),
    "STDDEV_SAMPLE": ("stddev_samp({0})",),
    "LATEST_BY_OFFSET": (
        "max_by({0}, {order}) FILTER (WHERE {0} IS NOT NULL)",
        "reverse(slice(" + _NEWEST + ", false), 1, {1})).x",
    ),
    "EARLIEST_BY_OFFSET": (
        "min_by({0}, {order}) FILTER (WHERE {0} IS NOT NULL)",
        "slice(" + _NEWEST + "), 1, {1}).x",
    ),
}

AGGREGATES = frozenset(
    [
        "COUNT_DISTINCT",
        "TOPK",
        "TOPKDISTINCT",
        "STDDEV_SAMPLE",
        "LATEST_BY_OFFSET",
        "EARLIEST_BY_OFFSET",
        "BOOL_AND",
        "BOOL_OR",
        "EVERY",
        "SOME",
        "MAX_BY",
        "MIN_BY",
        "COLLECT_LIST",
        "COLLECT_SET",
        "SUM",
        "COUNT",
        "AVG",
        "MIN",
        "MAX",
        "FIRST",
        "LAST",
        "FIRST_VALUE",
        "LAST_VALUE",
        "ANY_VALUE",
        "HISTOGRAM",
        "CORRELATION",
        "APPROX_COUNT_DISTINCT",
        "STDDEV",
        "VARIANCE",
    ]
)
_ABSENT = {
    "HISTOGRAM": "use COLLECT_LIST, or group by the column and count",
}
_PARSED_FUNCTIONS: dict[type[exp.Expr], str] = {exp.JSONArrayContains: "JSON_ARRAY_CONTAINS"}
"""Functions of two arguments that sqlglot parses to a class, but that Spark does not have."""
NONDETERMINISTIC_FUNCTIONS = frozenset(["RAND", "RANDOM", "RANDN", "UUID", "SHUFFLE"])
"""Functions whose value changes from call to call: a replayed batch would have other rows."""


def spark_function(
    node: exp.Expr, order: str, written: Callable[[exp.Expr], str]
) -> exp.Expr | None:
    """Returns a ksqlDB function as Spark's; None if it is not one.

    `written` returns Spark's text of an argument, `order` is the text that orders rows by arrival.
    """
    if isinstance(node, exp.Count) and isinstance(node.this, exp.Distinct):
        return _from_template("COUNT_DISTINCT", node.this.expressions, order, written)
    if type(node) in _PARSED_FUNCTIONS:
        arguments = [node.this, node.expression]
        return _from_template(_PARSED_FUNCTIONS[type(node)], arguments, order, written)
    if not isinstance(node, exp.Anonymous):
        return None
    name = str(node.this).upper()
    if name in _ABSENT:
        raise SqlError(f"{name} is not supported: {_ABSENT[name]}")
    if name == "FIELD":
        return _field(node.expressions, written)
    if name not in TEMPLATES:
        return None
    return _from_template(name, node.expressions, order, written)


def _from_template(
    name: str,
    arguments: list[exp.Expr],
    order: str,
    written: Callable[[exp.Expr], str],
) -> exp.Expr:
    for template in TEMPLATES[name]:
        if len(arguments) == _arity(template):
            text = template.format(*map(written, arguments), order=order)
            return _parsed(text)
    counts = " or ".join(str(_arity(template)) for template in TEMPLATES[name])
    noun = "argument" if counts == "1" else "arguments"
    raise SqlError(f"{name} takes {counts} {noun}, not {len(arguments)}")


def _arity(template: str) -> int:
    if template == "map_entries({0})":
        return 1
    return 1 + max(index for index in range(5) if f"{{{index}}}" in template)


def _field(arguments: list[exp.Expr], written: Callable[[exp.Expr], str]) -> exp.Expr:
    """Returns the index of the first argument among the others, counted from 1."""
    if len(arguments) < 2:
        raise SqlError("FIELD takes a text and at least one more to compare it with")
    texts = [written(argument) for argument in arguments]
    return _parsed(f"array_position(array({', '.join(texts[1:])}), {texts[0]})")


def _parsed(text: str) -> exp.Expr:
    parsed: exp.Expr = sqlglot.parse_one(text, dialect=BarnabasSql)
    return parsed


def is_aggregate(node: exp.Expr) -> bool:
    """Returns whether a call aggregates rows; a window function does not."""
    if isinstance(node.parent, exp.Window):
        return False
    if isinstance(node, exp.AggFunc):
        return True
    return isinstance(node, exp.Anonymous) and str(node.this).upper() in AGGREGATES


def suggestion(name: str) -> str:
    """Returns a hint with a similar function name, for an error message."""
    return close_name(name, TEMPLATES)
