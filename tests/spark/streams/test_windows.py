"""Windows of every shape against a plain model, late and out-of-order rows included."""

from datetime import datetime

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from support.pipelines.streams_feed import PADDING, feed_rounds, limit, rounds_of, unique
from support.pipelines.streams_model import fixed_windows, session_windows, sliding_windows
from support.soak import SOAK

from barnabas.streams import Stream, Topology, hopping, session, sliding, tumbling

MOST = 120
GRACE = 500
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
WANTED = {"n": "count(*)", "total": "sum(v)", "least": "min(v)"}


def window_key(row):
    return row["case"], millis(row["window_start"]), millis(row["window_end"])


def millis(text):
    return round(datetime.fromisoformat(text).timestamp() * 1000)


def totals(rows):
    return len(rows), sum(row.v for row in rows), min(row.v for row in rows)


def expected(table):
    return {key: totals(rows) for key, rows in table.items()}


def found_table(bench, topic, key=window_key):
    rows = [row for row in bench.table(topic).values() if row["case"] != PADDING]
    return {key(row): (row["n"], row["total"], row["least"]) for row in rows}


def found_rows(bench, topic):
    rows = [row for row in bench.rows(topic) if row["case"] != PADDING]
    return sorted((window_key(row), (row["n"], row["total"], row["least"])) for row in rows)


def told_rows(told):
    return sorted((key, totals(rows)) for key, rows in told.changes)


def told_by(groups, topic):
    return groups.aggregate(**WANTED).to(topic)


@GENERATED
@given(rounds=rounds_of(cases=6, rounds=3, rows=60))
def check_windows(bench, name, rounds):
    """Spark's own windows, and ours: sliding, changing sessions, late rows set aside."""
    prefix = unique(name)
    feed_rounds(bench, f"{prefix}-in", rounds, MOST)
    events = Stream(f"{prefix}-in", "case string, v bigint").group_by("case")
    seconds = events.windowed(tumbling("1 s", grace="500 ms")).emit("final")
    hops = events.windowed(hopping("1 s", "500 ms", grace="500 ms"))
    slides = events.windowed(sliding("700 ms", grace="500 ms"))
    sessions = events.windowed(session("300 ms", grace="500 ms"))
    sinks = [
        told_by(hops, f"{prefix}-hopping"),
        told_by(slides, f"{prefix}-sliding"),
        told_by(sessions, f"{prefix}-sessions"),
        told_by(seconds.late_to(f"{prefix}-too-late"), f"{prefix}-late"),
    ]
    if SOAK:
        sinks.append(told_by(seconds, f"{prefix}-tumbling"))
        sinks.append(told_by(sessions.emit("final"), f"{prefix}-session"))
    bench.run(Topology(prefix, *sinks), options=limit(MOST))
    check_native(bench, prefix, rounds)
    check_kept(bench, prefix, rounds)


def check_native(bench, prefix, rounds):
    told = fixed_windows(rounds, 1000, 500, GRACE, final=False, lag=1)
    assert found_table(bench, f"{prefix}-hopping") == expected(told.table)
    if SOAK:
        told = fixed_windows(rounds, 1000, 1000, GRACE, final=True, lag=1)
        assert found_rows(bench, f"{prefix}-tumbling") == told_rows(told)
        told = session_windows(rounds, 300, GRACE, final=True, lag=1)
        assert found_rows(bench, f"{prefix}-session") == told_rows(told)


def check_kept(bench, prefix, rounds):
    def by_end(row):
        return row["case"], millis(row["window_end"])

    told = sliding_windows(rounds, 700, GRACE)
    assert found_table(bench, f"{prefix}-sliding", by_end) == expected(told.table)
    told = session_windows(rounds, 300, GRACE, final=False, lag=0)
    assert found_table(bench, f"{prefix}-sessions") == expected(told.table)
    told = fixed_windows(rounds, 1000, 1000, GRACE, final=True, lag=0)
    assert found_rows(bench, f"{prefix}-late") == told_rows(told)
    late = [r for r in bench.records(f"{prefix}-too-late") if r.key != PADDING]
    assert sorted((r.key, r.value["v"], r.timestamp) for r in late) == sorted(
        (row.case, row.v, row.time) for row in told.late
    )
    assert told.late, "the rounds had no late rows: nothing was tested"


def test_windows(kafka_streams, topic_name):
    check_windows(kafka_streams, topic_name)
