"""Joins and tables against a plain model: several micro-batches, deletions, any order of times."""

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from support.pipelines.streams_feed import (
    PADDING,
    arrival,
    feed_rounds,
    limit,
    rounds_of,
    unique,
)
from support.pipelines.streams_model import BEGIN, folded, near_pairs, stream_table
from support.soak import SOAK

from barnabas.streams import Stream, Table, TableView, Topology
from barnabas.streams.engine import joins, state

MOST = 80
ROUNDS = 4 if SOAK else 2
CASES = 8
KINDS = ("inner", "left", "right", "full")
# Each is a query of its own, which costs seconds: one that is left out has its likes elsewhere.
STREAM_KINDS = KINDS if SOAK else ("inner", "right", "full")
TABLE_KINDS = KINDS if SOAK else ("left", "full")
FOREIGN_KINDS = ("inner", "left") if SOAK else ("left",)
KEYS = [f"c{n}" for n in range(CASES)]
SCHEMA = "case string, v bigint, other string"
pytestmark = [
    pytest.mark.integration,
    pytest.mark.xdist_group("spark-queries"),
    pytest.mark.timeout(3600 if SOAK else 600),
]
GENERATED = settings(
    max_examples=15 if SOAK else 1,
    derandomize=not SOAK,
    deadline=None,
    database=None,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)


@pytest.fixture(autouse=True)
def small_limits(monkeypatch):
    """The third round finds a table that is large, with so many changes that they are folded."""
    monkeypatch.setattr(joins, "BROADCAST_ROWS", CASES + 1)
    monkeypatch.setattr(state, "MAX_DELTAS", 2)


def without_padding(rows):
    return [row for row in rows if row["case"] != PADDING]


@GENERATED
@given(
    stream=rounds_of(side="stream", cases=CASES, rows=40, others=KEYS, deletes=True),
    table=rounds_of(side="table", cases=CASES, rows=40, others=KEYS, deletes=True),
)
def check_with_table(bench, name, stream, table):
    prefix = unique(name)
    feed_rounds(bench, f"{prefix}-stream", stream, MOST)
    feed_rounds(bench, f"{prefix}-table", table, MOST)
    rows, known = Stream(f"{prefix}-stream", SCHEMA), Table(f"{prefix}-table", SCHEMA)
    chosen = {"case": "s.case", "v": "s.v", "found": "t.v", "at": "unix_millis(s._timestamp)"}
    joined = rows.join(known, on="other", kind="left", columns=chosen, aliases=("s", "t"))
    bench.run(Topology(prefix, joined.to(f"{prefix}-out")), options=limit(MOST))
    found = without_padding(bench.rows(f"{prefix}-out"))
    wanted = stream_table(arrival(stream), arrival(table), lambda row: row.other)
    assert sorted((r["case"], r["v"], r.get("found") or -1, r["at"]) for r in found) == sorted(
        (s.case, s.v, -1 if t is None else t.v or -1, s.time) for s, t in wanted
    )
    check_order(found, stream)


def check_order(found, stream):
    """Each key's rows are in the order of the stream's topic."""
    for case in KEYS:
        sent = [(row.v, row.time) for rows in stream for row in rows if row.case == case]
        got = [(row["v"], row["at"]) for row in found if row["case"] == case]
        assert got == [pair for pair in sent if pair[0] is not None]


@GENERATED
@given(
    left=rounds_of(side="left", cases=CASES, rounds=ROUNDS, rows=40, others=KEYS, deletes=True),
    right=rounds_of(side="right", cases=CASES, rounds=ROUNDS, rows=40, others=KEYS, deletes=True),
)
def check_tables(bench, name, left, right):
    prefix = unique(name)
    feed_rounds(bench, f"{prefix}-left", left, MOST)
    feed_rounds(bench, f"{prefix}-right", right, MOST)
    lefts, rights = Table(f"{prefix}-left", SCHEMA), Table(f"{prefix}-right", SCHEMA)
    pair = {"case": "coalesce(left.case, right.case)", "a": "left.v", "b": "right.v"}
    view = str(bench.directory / f"{prefix}.db")
    joined = {kind: lefts.join(rights, kind=kind, columns=pair) for kind in TABLE_KINDS}
    foreign = {
        kind: lefts.join(rights, on="other", kind=kind, columns=pair) for kind in FOREIGN_KINDS
    }
    topology = Topology(
        prefix,
        *(table.to(f"{prefix}-{kind}-join") for kind, table in joined.items()),
        *(table.to(f"{prefix}-foreign-{kind}") for kind, table in foreign.items()),
        joined["full"].view(view),
        lefts.filter("v >= 10")
        .group_by("other")
        .aggregate(n="count(*)", most="max(v)")
        .to(f"{prefix}-groups"),
    )
    bench.run(topology, options=limit(MOST))
    a, b = folded(arrival(left)), folded(arrival(right))
    for kind in TABLE_KINDS:
        found = values_of(bench.table(f"{prefix}-{kind}-join"))
        assert found == by_key(a, b, kind), kind
    for kind in FOREIGN_KINDS:
        found = values_of(bench.table(f"{prefix}-foreign-{kind}"))
        assert found == by_foreign_key(a, b, kind), kind
    check_view(view, by_key(a, b, "full"))
    check_groups(bench.table(f"{prefix}-groups"), a)


def values_of(found):
    return {key: (row.get("a"), row.get("b")) for key, row in found.items() if key != PADDING}


def by_key(a, b, kind):
    keys = {"inner": {*a} & {*b}, "left": {*a}, "right": {*b}, "full": {*a, *b}}[kind]
    return {key: (a[key].v if key in a else None, b[key].v if key in b else None) for key in keys}


def by_foreign_key(a, b, kind):
    return {
        key: (row.v, b[row.other].v if row.other in b else None)
        for key, row in a.items()
        if kind == "left" or row.other in b
    }


def check_view(view, wanted):
    with TableView(view) as asked:
        seen = {row.key: row.value for row in asked.scan() if row.key != PADDING}
        assert values_of(seen) == wanted
        assert asked.get("nobody") is None
        assert all(asked.get(key) == row for key, row in seen.items())


def check_groups(found, a):
    groups = {}
    for row in a.values():
        if row.v >= 10:
            groups.setdefault(row.other, []).append(row.v)
    wanted = {key: (len(values), max(values)) for key, values in groups.items()}
    assert {key: (row["n"], row["most"]) for key, row in found.items()} == wanted


@GENERATED
@given(
    left=rounds_of(side="left", cases=CASES, rounds=2, rows=30),
    right=rounds_of(side="right", cases=CASES, rounds=2, rows=30),
)
def check_streams(bench, name, left, right):
    prefix = unique(name)
    # A row of the end, so that all outer rows before it are told.
    last = [[], [type(left[0][0])("end", 1, BEGIN + 7_200_000)]]
    rounds = [[*rows, *more] for rows, more in zip(left, last, strict=True)]
    others = [[*rows, *more] for rows, more in zip(right, last, strict=True)]
    feed_rounds(bench, f"{prefix}-left", rounds, MOST)
    feed_rounds(bench, f"{prefix}-right", others, MOST)
    lefts = Stream(f"{prefix}-left", SCHEMA).filter(f"case <> '{PADDING}'")
    rights = Stream(f"{prefix}-right", SCHEMA).filter(f"case <> '{PADDING}'")
    case = "coalesce(left.case, right.case)"
    said = {
        "within": ("500 ms", "300 ms"),
        "grace": "1 hour",
        "columns": {"case": case, "v": "left.v", "w": "right.v"},
    }
    conditions = {
        "inner": "left.case = right.case and left.v >= 0",
        "full": "left.case = right.case",
    }
    joined = {
        kind: lefts.join(rights, kind=kind, on=conditions.get(kind), **said)
        for kind in STREAM_KINDS
    }
    sinks = (stream.to(f"{prefix}-{kind}-join") for kind, stream in joined.items())
    bench.run(Topology(prefix, *sinks), options=limit(MOST))
    for kind in STREAM_KINDS:
        rows = [row for row in bench.rows(f"{prefix}-{kind}-join") if row["case"] in KEYS]
        found = [(row["case"], row.get("v", -1), row.get("w", -1)) for row in rows]
        assert sorted(found) == near_rows(left, right, kind), kind


def near_rows(left, right, kind):
    """Pairs, and by the kind of the join the rows that are in none."""
    pairs = near_pairs(left, right, 500, 300)
    found = [(a.case, a.v, b.v) for a, b in pairs]
    met = {id(row) for pair in pairs for row in pair}
    alone = [[r for rows in rounds for r in rows if id(r) not in met] for rounds in (left, right)]
    assert all(alone), "nothing for outer joins to tell: nothing was tested"
    if kind in ("left", "full"):
        found += [(row.case, row.v, -1) for row in alone[0]]
    if kind in ("right", "full"):
        found += [(row.case, -1, row.v) for row in alone[1]]
    return sorted(found)


def test_stream_with_table(kafka_streams, topic_name):
    check_with_table(kafka_streams, topic_name)


def test_tables(kafka_streams, topic_name):
    check_tables(kafka_streams, topic_name)


def test_streams(kafka_streams, topic_name):
    check_streams(kafka_streams, topic_name)
