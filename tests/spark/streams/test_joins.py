"""Joins and tables against a plain model: several micro-batches, deletions, any order of times."""

import os

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from support.streams_feed import (
    PADDING,
    arrival,
    feed_rounds,
    limit,
    partition_of,
    rounds_of,
    unique,
)
from support.streams_model import BEGIN, folded, near_pairs, stream_table

from barnabas.streams import Stream, Table, TableView, Topology

SOAK = bool(os.environ.get("BARNABAS_SOAK"))
MOST = 80
ROUNDS = 4 if SOAK else 2
CASES = 8
KEYS = [f"c{n}" for n in range(CASES)]
SCHEMA = "case string, v bigint, other string"
pytestmark = [
    pytest.mark.integration,
    pytest.mark.xdist_group("spark"),
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


def without_padding(rows):
    return [row for row in rows if row["case"] != PADDING]


@GENERATED
@given(
    stream=rounds_of(cases=CASES, rows=40, others=KEYS, deletes=True),
    table=rounds_of(cases=CASES, rows=40, others=KEYS, deletes=True),
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
    wanted = stream_table(arrival(stream), arrival(table), lambda row: row.other, partition_of)
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
    left=rounds_of(cases=CASES, rounds=ROUNDS, rows=40, others=KEYS, deletes=True),
    right=rounds_of(cases=CASES, rounds=ROUNDS, rows=40, others=KEYS, deletes=True),
)
def check_tables(bench, name, left, right):
    prefix = unique(name)
    feed_rounds(bench, f"{prefix}-left", left, MOST)
    feed_rounds(bench, f"{prefix}-right", right, MOST)
    lefts, rights = Table(f"{prefix}-left", SCHEMA), Table(f"{prefix}-right", SCHEMA)
    pair = {"case": "coalesce(left.case, right.case)", "a": "left.v", "b": "right.v"}
    view = str(bench.directory / f"{prefix}.db")
    full = lefts.join(rights, kind="full", columns=pair)
    topology = Topology(
        prefix,
        full.to(f"{prefix}-full"),
        full.view(view),
        lefts.join(rights, on="other", kind="inner", columns=pair).to(f"{prefix}-foreign"),
        lefts.filter("v >= 10")
        .group_by("other")
        .aggregate(n="count(*)", most="max(v)")
        .to(f"{prefix}-groups"),
    )
    bench.run(topology, options=limit(MOST))
    a, b = folded(arrival(left)), folded(arrival(right))
    check_full(bench.table(f"{prefix}-full"), view, a, b)
    check_foreign(bench.table(f"{prefix}-foreign"), a, b)
    check_groups(bench.table(f"{prefix}-groups"), a)


def check_full(found, view, a, b):
    wanted = {
        key: (a[key].v if key in a else None, b[key].v if key in b else None) for key in {*a, *b}
    }
    found.pop(PADDING, None)
    assert {key: (row.get("a"), row.get("b")) for key, row in found.items()} == wanted
    with TableView(view) as asked:
        seen = {row.key: row.value for row in asked.scan() if row.key != PADDING}
        assert {key: (row.get("a"), row.get("b")) for key, row in seen.items()} == wanted
        assert asked.get("nobody") is None
        assert all(asked.get(key) == row for key, row in seen.items())


def check_foreign(found, a, b):
    wanted = {key: (row.v, b[row.other].v) for key, row in a.items() if row.other in b}
    found.pop(PADDING, None)
    assert {key: (row["a"], row["b"]) for key, row in found.items()} == wanted


def check_groups(found, a):
    groups = {}
    for row in a.values():
        if row.v >= 10:
            groups.setdefault(row.other, []).append(row.v)
    wanted = {key: (len(values), max(values)) for key, values in groups.items()}
    assert {key: (row["n"], row["most"]) for key, row in found.items()} == wanted


@GENERATED
@given(
    left=rounds_of(cases=CASES, rounds=2, rows=30),
    right=rounds_of(cases=CASES, rounds=2, rows=30),
)
def check_streams(bench, name, left, right):
    prefix = unique(name)
    # A row of the end, so that all outer rows before it are told.
    last = [[], [type(left[0][0])("end", 1, BEGIN + 3_600_000)]]
    rounds = [[*rows, *more] for rows, more in zip(left, last, strict=True)]
    others = [[*rows, *more] for rows, more in zip(right, last, strict=True)]
    feed_rounds(bench, f"{prefix}-left", rounds, MOST)
    feed_rounds(bench, f"{prefix}-right", others, MOST)
    lefts, rights = Stream(f"{prefix}-left", SCHEMA), Stream(f"{prefix}-right", SCHEMA)
    pair = {"case": "left.case", "v": "left.v", "w": "right.v", "at": "left._timestamp"}
    within = ("500 ms", "300 ms")
    topology = Topology(
        prefix,
        lefts.filter(f"case <> '{PADDING}'")
        .join(rights, kind="left", within=within, grace="1 hour", columns=pair)
        .to(f"{prefix}-left-join"),
    )
    bench.run(topology, options=limit(MOST))
    found = [row for row in bench.rows(f"{prefix}-left-join") if row["case"] in KEYS]
    pairs = near_pairs(left, right, 500, 300)
    matched = [(row["case"], row["v"], row["w"]) for row in found if "w" in row]
    assert sorted(matched) == sorted((a.case, a.v, b.v) for a, b in pairs)
    alone = {id(row) for rows in left for row in rows} - {id(a) for a, _ in pairs}
    wanted = sorted((r.case, r.v) for rows in left for r in rows if id(r) in alone)
    assert sorted((r["case"], r["v"]) for r in found if "w" not in r) == wanted


def test_stream_with_table(kafka_streams, topic_name):
    check_with_table(kafka_streams, topic_name)


def test_tables(kafka_streams, topic_name):
    check_tables(kafka_streams, topic_name)


def test_streams(kafka_streams, topic_name):
    check_streams(kafka_streams, topic_name)
