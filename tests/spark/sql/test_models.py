"""Windows and joins in SQL against a plain model, on generated rows; values in JSON and in Avro.

One run of all queries over rows in any order; in soaks the windows then go on with a second round,
which has late rows. What is shown here is that SQL asks for the right thing: the streams' own tests
go through many more rounds.
"""

import json

import pytest
from support.pipelines.sql_topics import committed, rows, table
from support.pipelines.streams_feed import make_rounds
from support.pipelines.streams_model import (
    BEGIN,
    Row,
    fixed_windows,
    folded,
    near_pairs,
    session_windows,
)
from support.soak import SOAK

from barnabas import Producer

SEEDS = range(4) if SOAK else (1,)
RUN_SECONDS = 240
END = "end"
KEYS = [f"c{n}" for n in range(6)]
GRACE = 500
pytestmark = [
    pytest.mark.integration,
    pytest.mark.xdist_group("spark-queries"),
    pytest.mark.timeout(3600 if SOAK else 600),
]

STATEMENTS = """
CREATE STREAM a (k VARCHAR KEY, v INT, other VARCHAR)
  WITH (kafka_topic='{p}a', partitions=2, retention_ms=-1);
CREATE STREAM b (k VARCHAR KEY, v INT, other VARCHAR)
  WITH (kafka_topic='{p}b', value_format='AVRO', partitions=2, retention_ms=-1);
CREATE TABLE t (k VARCHAR PRIMARY KEY, v INT, other VARCHAR)
  WITH (kafka_topic='{p}t', partitions=2);
CREATE TABLE u (k VARCHAR PRIMARY KEY, v INT, other VARCHAR)
  WITH (kafka_topic='{p}u', partitions=2);

CREATE TABLE hops WITH (kafka_topic='{p}hops') AS
  SELECT k, COUNT(*) AS n, SUM(v) AS total, MIN(v) AS least FROM a
  WINDOW HOPPING (SIZE 1 SECOND, ADVANCE BY 500 MILLISECONDS, GRACE PERIOD 500 MILLISECONDS)
  WHERE k <> 'end' GROUP BY k EMIT CHANGES;
CREATE TABLE sessions WITH (kafka_topic='{p}sessions') AS
  SELECT k, COUNT(*) AS n, SUM(v) AS total, MIN(v) AS least FROM a
  WINDOW SESSION (300 MILLISECONDS, GRACE PERIOD 500 MILLISECONDS)
  WHERE k <> 'end' GROUP BY k EMIT FINAL;

CREATE STREAM fulls WITH (kafka_topic='{p}fulls') AS
  SELECT ROWKEY AS k, a.v AS v, b.v AS w FROM a FULL OUTER JOIN b
  WITHIN (500 MILLISECONDS, 300 MILLISECONDS) GRACE PERIOD 1 MINUTE ON a.k = b.k EMIT CHANGES;

CREATE TABLE either WITH (kafka_topic='{p}either') AS
  SELECT ROWKEY AS k, t.v AS v, u.v AS w FROM t FULL JOIN u ON t.k = u.k;

CREATE STREAM found WITH (kafka_topic='{p}found', value_format='AVRO', partitions=3) AS
  SELECT b.v AS v, t.v AS w, b.k AS k FROM b JOIN t ON b.other = t.k PARTITION BY b.k;
INSERT INTO found SELECT v, v AS w, k FROM a WHERE v < 10;
"""
OTHER_KINDS = """
CREATE STREAM lefts WITH (kafka_topic='{p}lefts') AS
  SELECT a.k, a.v AS v, b.v AS w FROM a LEFT JOIN b
  WITHIN (500 MILLISECONDS, 300 MILLISECONDS) GRACE PERIOD 1 MINUTE ON a.k = b.k;
CREATE STREAM rights WITH (kafka_topic='{p}rights') AS
  SELECT b.k, a.v AS v, b.v AS w FROM a RIGHT JOIN b
  WITHIN (500 MILLISECONDS, 300 MILLISECONDS) GRACE PERIOD 1 MINUTE ON a.k = b.k;
CREATE TABLE both WITH (kafka_topic='{p}both') AS
  SELECT t.k, t.v AS v, u.v AS w FROM t JOIN u ON t.k = u.k;
CREATE TABLE all_t WITH (kafka_topic='{p}all_t') AS
  SELECT t.k, t.v AS v, u.v AS w FROM t LEFT JOIN u ON t.k = u.k;
CREATE TABLE all_u WITH (kafka_topic='{p}all_u') AS
  SELECT u.k, t.v AS v, u.v AS w FROM t RIGHT JOIN u ON t.k = u.k;
"""
"""Each kind of join alone; only in soaks, because STATEMENTS contains all of them."""
AGAIN = ("hops", "sessions")


class World:
    """Generated rows of all topics, and what the queries made of them."""

    def __init__(self, seed, prefix):
        self.prefix = prefix
        last = [Row(END, 1, BEGIN + 3_600_000, END)]
        shape = {"cases": len(KEYS), "rows": 40, "others": KEYS}
        self.a = make_rounds(seed, rounds=2 if SOAK else 1, **shape)
        self.b = make_rounds(seed + 1000, rounds=1, **shape)
        # Tables change before any row of a stream: which row a stream meets is then certain.
        before = [make_rounds(seed + n, rounds=1, deletes=True, **shape)[0] for n in (2000, 3000)]
        self.t, self.u = (
            [Row(r.case, r.v, r.time - 86_400_000, r.other) for r in made] for made in before
        )
        self.first = {"a": [*self.a[0], *last], "b": [*self.b[0], *last], "t": self.t, "u": self.u}

    def insert(self, engine, name, made):
        """Rows as SQL writes them, in the format of the stream."""
        values = ", ".join(f"({r.time}, '{r.case}', {r.v}, '{r.other}')" for r in made)
        engine.run(f"INSERT INTO {name} (ROWTIME, k, v, other) VALUES {values}")

    def produce(self, servers, name, made):
        """Rows as another program writes them, with deletions."""
        with Producer(bootstrap_servers=servers) as producer:
            for row in made:
                value = {"v": row.v, "other": row.other}
                data = None if row.v is None else json.dumps(value).encode()
                topic = f"{self.prefix}{name}"
                producer.send(topic, data, key=row.case.encode(), timestamp=row.time)

    def run(self, engine, servers):
        engine.run((STATEMENTS + (OTHER_KINDS if SOAK else "")).format(p=self.prefix))
        for name in ("a", "b"):
            self.insert(engine, name, self.first[name])
        for name in ("t", "u"):
            self.produce(servers, name, self.first[name])
        engine.run_available(RUN_SECONDS)
        if SOAK:
            self.go_on(engine)
        self.engine, self.servers = engine, servers

    def go_on(self, engine):
        for query in engine.catalog.queries:
            if query.target not in AGAIN:
                engine.run(f"TERMINATE {query.query_id}")
        self.insert(engine, "a", self.a[1])
        engine.run_available(RUN_SECONDS)

    def rows(self, name):
        return rows(self.servers, self.prefix + name)

    def table(self, name):
        return table(self.servers, self.prefix + name)

    @property
    def pairs(self):
        return near_pairs(self.a[:1], self.b, 500, 300)

    def alone(self, side, place):
        """Rows of a side without a match."""
        met = {id(pair[place]) for pair in self.pairs}
        return [row for row in side if id(row) not in met]


@pytest.fixture(scope="module", params=SEEDS)
def world(request, engine_factory, broker):
    made = World(request.param, f"md{request.param}_")
    made.run(engine_factory(f"models-{request.param}"), broker.bootstrap_servers)
    return made


def told_by_windows(world, name):
    return sorted(
        ((row["k"], row["WINDOWSTART"], row["WINDOWEND"]), row["n"], row["total"], row["least"])
        for row in world.table(name).values()
    )


def expected_windows(told):
    return sorted(
        (key, len(rows), sum(r.v for r in rows), min(r.v for r in rows))
        for key, rows in told.table.items()
    )


def rounds_with_closing(world):
    """Each run of a query ends with a micro-batch of nothing, in which time moves on."""
    first, *later = world.a
    return [first, *(rows for again in later for rows in ([], again))]


def test_hopping_windows(world):
    told = fixed_windows(rounds_with_closing(world), 1000, 500, GRACE, final=False, lag=1)
    assert told_by_windows(world, "hops") == expected_windows(told)
    assert told.late or not SOAK, "no row came late: nothing was tested"


def test_final_sessions(world):
    told = session_windows(rounds_with_closing(world), 300, GRACE, final=True, lag=1)
    assert told_by_windows(world, "sessions") == expected_windows(told)
    assert len(world.rows("sessions")) == len(told.changes), "a session was told twice"


def joined(world, name):
    found = [(k, row.get("v"), row.get("w")) for k, row in world.rows(name) if k != END]
    return sorted(found, key=str)


STREAM_JOINS = {
    "fulls": (True, True),
    **({"lefts": (True, False), "rights": (False, True)} if SOAK else {}),
}
"""Whether rows of the left, and of the right, that have no match are in the result."""


@pytest.mark.parametrize("name", STREAM_JOINS)
def test_streams_joined_within_a_time(world, name):
    left, right = STREAM_JOINS[name]
    wanted = [(a.case, a.v, b.v) for a, b in world.pairs]
    wanted += [(row.case, row.v, None) for row in world.alone(world.a[0], 0) if left]
    wanted += [(row.case, None, row.v) for row in world.alone(world.b[0], 1) if right]
    assert joined(world, name) == sorted(wanted, key=str)
    assert world.pairs, "no row met another: nothing was tested"


OTHER_TABLE_JOINS = {
    "both": lambda t, u: t.keys() & u.keys(),
    "all_t": lambda t, _: t.keys(),
    "all_u": lambda _, u: u.keys(),
}
TABLE_JOINS = {
    "either": lambda t, u: t.keys() | u.keys(),
    **(OTHER_TABLE_JOINS if SOAK else {}),
}
"""The keys of each."""


@pytest.mark.parametrize("name", TABLE_JOINS)
def test_tables_joined_by_key(world, name):
    t, u = folded([world.t]), folded([world.u])
    wanted = {
        key: (t[key].v if key in t else None, u[key].v if key in u else None)
        for key in TABLE_JOINS[name](t, u)
    }
    found = world.table(name)
    assert {key: (row.get("v"), row.get("w")) for key, row in found.items()} == wanted
    assert t.keys() != u.keys(), "both tables have the same keys: nothing was tested"


def expected_found(world):
    t = folded([world.t])
    joins = [(r.case, r.v, t[r.other].v) for r in world.b[0] if r.other in t]
    return joins + [(r.case, r.v, r.v) for r in world.first["a"] if r.v < 10]


def test_two_queries_into_one_topic_of_avro(world):
    """CREATE … AS and INSERT INTO … SELECT, with a key and partitions of its own."""
    records = committed(world.servers, world.prefix + "found")
    assert {record.partition for record in records} <= {0, 1, 2}
    assert len({record.partition for record in records}) > 1
    wanted = expected_found(world)
    assert sorted(record.key.decode() for record in records) == sorted(k for k, _, _ in wanted)
    # Each field may be null: a two, for the second of the union, stands before the number.
    assert all(record.value[0] == 2 for record in records)
    (answer,) = world.engine.run("SELECT k, v, w FROM found")
    assert sorted((row["k"], row["v"], row["w"]) for row in answer.rows) == sorted(wanted)


def test_bounded_select_with_everything(world):
    """WITH, UNION, sub-query, OVER, HAVING, ORDER BY and LIMIT over stream, table and Avro."""
    (answer,) = world.engine.run(
        """WITH seen AS (SELECT k, v FROM a WHERE k <> 'end' UNION ALL
                         SELECT k, v FROM b WHERE k <> 'end'),
                totals AS (SELECT s.k, SUM(s.v) AS total, MAX(t.v) AS known
                           FROM seen s LEFT JOIN t ON s.k = t.k GROUP BY s.k HAVING COUNT(*) > 1)
           SELECT k, total, known, RANK() OVER (ORDER BY total DESC, k) AS place FROM totals
           WHERE k IN (SELECT k FROM a) ORDER BY place LIMIT 3"""
    )
    t, everything = folded([world.t]), [row for rows in (*world.a, *world.b) for row in rows]
    seen = {r.case for rows in world.a for r in rows}
    totals = {
        key: sum(r.v for r in everything if r.case == key)
        for key in seen
        if sum(r.case == key for r in everything) > 1
    }
    best = sorted(totals, key=lambda key: (-totals[key], key))[:3]
    assert list(answer.rows) == [
        {
            "k": key,
            "total": totals[key],
            "known": t[key].v if key in t else None,
            "place": number,
        }
        for number, key in enumerate(best, 1)
    ]
