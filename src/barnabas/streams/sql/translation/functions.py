"""ksqlDB's functions in Spark's words.

A name that Spark has too means what Spark means; these are the names Spark does not have, and
aggregates that Spark has no streaming form of. `{0}` is the first argument, `{order}` the order in
which rows of a group came. A template belongs to a number of arguments.
"""

from collections.abc import Callable

from sqlglot import exp

from barnabas.streams.sql.catalog.relations import close_name
from barnabas.streams.sql.language.dialect import BarnabasSql
from barnabas.streams.sql.language.errors import SqlError

_NEWEST = "sort_array(collect_list(struct({order} AS o, {0} AS x)) FILTER (WHERE {0} IS NOT NULL)"
_ARC = (
    "2 * asin(sqrt(power(sin(radians({2} - {0}) / 2), 2) + cos(radians({0})) * cos(radians({2})) * "
    "power(sin(radians({3} - {1}) / 2), 2)))"
)
"""The angle between two places on a globe, by the haversine formula."""

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
TIMES_AND_DICE = {
    "RAND": "random",
    "RANDOM": "random",
    "RANDN": "random",
    "UUID": "random",
    "SHUFFLE": "random",
}
"""Functions whose value changes from call to call: a batch that is replayed after a crash would
have other rows than before it."""


def spark_function(
    node: exp.Expr, order: str, written: Callable[[exp.Expr], str]
) -> exp.Expr | None:
    """A function of ksqlDB as Spark's; None if it is not one of them.

    `written` gives the Spark text of an argument, `order` the text that orders rows by arrival.
    """
    if isinstance(node, exp.Count) and isinstance(node.this, exp.Distinct):
        return _from_template("COUNT_DISTINCT", node.this.expressions, order, written)
    if not isinstance(node, exp.Anonymous):
        return None
    name = str(node.this).upper()
    if name in _ABSENT:
        raise SqlError(f"there is no {name} here: {_ABSENT[name]}")
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
    raise SqlError(f"{name} takes {counts} arguments, not {len(arguments)}")


def _arity(template: str) -> int:
    if template == "map_entries({0})":
        return 1
    return 1 + max(index for index in range(5) if f"{{{index}}}" in template)


def _field(arguments: list[exp.Expr], written: Callable[[exp.Expr], str]) -> exp.Expr:
    """Which of several texts equals the first argument, counted from 1."""
    if len(arguments) < 2:
        raise SqlError("FIELD takes a text and at least one more to compare it with")
    texts = [written(argument) for argument in arguments]
    return _parsed(f"array_position(array({', '.join(texts[1:])}), {texts[0]})")


def _parsed(text: str) -> exp.Expr:
    import sqlglot

    parsed: exp.Expr = sqlglot.parse_one(text, dialect=BarnabasSql)
    return parsed


def is_aggregate(node: exp.Expr) -> bool:
    """Whether a call makes one value of many rows; as a window function it does not."""
    if isinstance(node.parent, exp.Window):
        return False
    if isinstance(node, exp.AggFunc):
        return True
    return isinstance(node, exp.Anonymous) and str(node.this).upper() in AGGREGATES


def suggestion(name: str) -> str:
    """A function of ours with a name like this, for an error."""
    return close_name(name, TEMPLATES)
