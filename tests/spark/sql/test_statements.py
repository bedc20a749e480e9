"""Kinds of queries that the quick start lacks, in one run; each test checks one of them."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from support.pipelines.sql_topics import rows, table, wait_gone

from barnabas.streams.sql.engine.results import TextResult
from barnabas.streams.sql.language.errors import SqlError

pytestmark = [
    pytest.mark.integration,
    pytest.mark.xdist_group("spark-queries"),
    pytest.mark.timeout(600),
]
RUN_SECONDS = 240

STATEMENTS = """
CREATE STREAM orders (id VARCHAR KEY, customer VARCHAR, item STRUCT<name VARCHAR, price DOUBLE>,
  at BIGINT) WITH (kafka_topic='st_orders', timestamp='at', partitions=1, retention_ms=-1);
CREATE STREAM payments (id VARCHAR KEY, amount DOUBLE, at BIGINT)
  WITH (kafka_topic='st_payments', timestamp='at', partitions=1, retention_ms=-1);
CREATE TABLE customers (name VARCHAR PRIMARY KEY, city VARCHAR)
  WITH (kafka_topic='st_customers', partitions=1);
CREATE TABLE cities (city VARCHAR PRIMARY KEY, country VARCHAR)
  WITH (kafka_topic='st_cities', partitions=1);

INSERT INTO orders VALUES
  ('o1', 'ann', STRUCT(name := 'tea', price := 2.5), 1000),
  ('o2', 'bob', STRUCT(name := 'cake', price := 4), 2000),
  ('o3', 'ann', STRUCT(name := 'pie', price := 5), 70000),
  ('o4', 'ann', STRUCT(name := 'tea', price := 2.5), 71000);
INSERT INTO payments VALUES ('o1', 2.5, 3000), ('o2', 4, 2000000), ('o4', 2.5, 71500);
INSERT INTO customers (ROWTIME, name, city) VALUES (1, 'ann', 'Prague'), (1, 'bob', 'Berlin');
INSERT INTO cities (ROWTIME, city, country) VALUES (1, 'Prague', 'CZ'), (1, 'Berlin', 'DE');

CREATE STREAM by_customer WITH (kafka_topic='st_by_customer') AS
  SELECT customer, item->name AS item, TIMESTAMPTOSTRING(ROWTIME, 'mm:ss') AS clock
  FROM orders PARTITION BY customer;

CREATE STREAM paid WITH (kafka_topic='st_paid') AS
  SELECT o.id, o.customer, p.amount FROM orders o
  JOIN payments p WITHIN 10 SECONDS GRACE PERIOD 1 SECOND ON o.id = p.id;

CREATE TABLE sessions WITH (kafka_topic='st_sessions') AS
  SELECT customer, COUNT(*) AS n, LATEST_BY_OFFSET(item->name) AS newest
  FROM orders WINDOW SESSION (30 SECONDS) GROUP BY customer;

CREATE TABLE spent WITH (kafka_topic='st_spent') AS
  SELECT customer, SUM(item->price) AS total, COUNT_DISTINCT(item->name) AS kinds,
         TOPK(item->price, 2) AS dearest, COLLECT_LIST(item->name) AS names
  FROM orders GROUP BY customer EMIT CHANGES;

CREATE TABLE lived_in WITH (kafka_topic='st_lived_in') AS
  SELECT c.name, t.country FROM customers c LEFT JOIN cities t ON c.city = t.city;
"""


CHANGES = """
INSERT INTO cities (ROWTIME, city, country) VALUES (5, 'Prague', 'Czechia');
INSERT INTO orders VALUES ('o5', 'bob', STRUCT(name := 'tea', price := 1), 72000);
"""
STREAMS = ("st_by_customer", "st_paid")
TABLES = ("st_sessions", "st_spent", "st_lived_in")


@pytest.fixture(scope="module")
def runs(engine_factory, broker):
    """Contents of the topics after a run, and after a second run with changes before it.

    Before the second run all queries but two are terminated.
    """
    servers = broker.bootstrap_servers
    engine = engine_factory("statements")
    assert all(isinstance(result, TextResult) for result in engine.run(STATEMENTS))
    found = []
    for more in ("", CHANGES):
        engine.run(more)
        engine.run_available(RUN_SECONDS)
        for query in engine.catalog.queries:
            if query.target not in ("spent", "lived_in"):
                engine.run(f"TERMINATE {query.query_id}")
        found.append(
            {
                **{topic: rows(servers, topic) for topic in STREAMS},
                **{topic: table(servers, topic) for topic in TABLES},
            }
        )
    return found


def test_partition_by_and_struct_fields(runs):
    assert runs[0]["st_by_customer"] == [
        ("ann", {"item": "tea", "clock": "00:01"}),
        ("bob", {"item": "cake", "clock": "00:02"}),
        ("ann", {"item": "pie", "clock": "01:10"}),
        ("ann", {"item": "tea", "clock": "01:11"}),
    ]


def test_streams_joined_within_a_time(runs):
    assert sorted(runs[0]["st_paid"], key=str) == [
        ("o1", {"customer": "ann", "amount": 2.5}),
        ("o4", {"customer": "ann", "amount": 2.5}),
    ]


def test_sessions(runs):
    found = runs[0]["st_sessions"].values()
    told = [(r["customer"], r["n"], r["newest"], r["WINDOWSTART"]) for r in found]
    assert sorted(told) == [
        ("ann", 1, "tea", 1000),
        ("ann", 2, "tea", 70_000),
        ("bob", 1, "cake", 2000),
    ]


def test_aggregates(runs):
    found = runs[0]["st_spent"]
    assert found["bob"] == {"total": 4.0, "kinds": 1, "dearest": [4.0], "names": ["cake"]}
    assert found["ann"]["total"] == 10.0
    assert found["ann"]["kinds"] == 2
    assert found["ann"]["dearest"] == [5.0, 2.5]
    assert sorted(found["ann"]["names"]) == ["pie", "tea", "tea"]


def test_tables_by_foreign_key(runs):
    assert runs[0]["st_lived_in"] == {"ann": {"country": "CZ"}, "bob": {"country": "DE"}}


def test_queries_continue_from_their_checkpoint(runs):
    second = runs[1]
    assert second["st_lived_in"] == {"ann": {"country": "Czechia"}, "bob": {"country": "DE"}}
    assert second["st_spent"]["bob"]["total"] == 5.0
    assert second["st_spent"]["ann"] == runs[0]["st_spent"]["ann"]
    assert second["st_by_customer"] == runs[0]["st_by_customer"], "terminated, and yet it ran"


def test_terminate_and_drop(engine_factory):
    engine = engine_factory("ending")
    engine.run(
        """CREATE STREAM a (k VARCHAR KEY, n INT) WITH (kafka_topic='end_a', partitions=1);
           CREATE STREAM b WITH (kafka_topic='end_b') AS SELECT k, n FROM a;
           CREATE TABLE c WITH (kafka_topic='end_c') AS
             SELECT n, COUNT(*) AS x FROM b GROUP BY n;"""
    )
    (query,) = [q.query_id for q in engine.catalog.queries if q.target == "c"]
    assert engine.run(f"TERMINATE {query.lower()}") == [TextResult(f"{query} terminated")]
    assert [q.target for q in engine.catalog.queries] == ["b"]
    engine.run("DROP TABLE c DELETE TOPIC; DROP STREAM b;")
    assert engine.catalog.queries == []
    assert [relation.name for relation in engine.catalog.relations] == ["a"]
    wait_gone(engine, "end_c")
    assert "end_b" in engine.topic_names()
    assert engine.run("DROP TABLE IF EXISTS c") == [TextResult("c does not exist")]


def test_queries_that_run(engine_factory, broker):
    """EXPLAIN of one, no DROP of what it reads or writes, TERMINATE ALL, and DROP.

    They are started by another thread, as a shell does it with those of earlier.
    """
    engine = engine_factory("running")
    engine.run(
        """CREATE STREAM a (k INT KEY, n INT) WITH (kafka_topic='run_a', partitions=1);
           CREATE STREAM b (k INT KEY, n INT) WITH (kafka_topic='run_b', partitions=1);
           INSERT INTO b SELECT k, n * 2 AS n FROM a;
           INSERT INTO a VALUES (-7, 1);"""
    )
    (query,) = engine.catalog.queries
    with ThreadPoolExecutor(1) as thread:
        assert thread.submit(engine.start_queries).result(RUN_SECONDS) == 1
    (pushed,) = engine.run("SELECT k, n FROM b EMIT CHANGES LIMIT 1")
    assert list(pushed.rows) == [{"k": -7, "n": 2}]
    (explained,) = engine.run(f"EXPLAIN {query.query_id}")
    assert explained.text.startswith(f"{query.query_id}: RUNNING\n")
    assert "stream run_a" in explained.text
    for name in ("a", "b"):
        reason = f"^{name} is in use: TERMINATE {query.query_id} first$"
        with pytest.raises(SqlError, match=reason):
            engine.run(f"DROP STREAM {name}")
    assert engine.run("TERMINATE ALL") == [TextResult(f"{query.query_id} terminated")]
    assert engine.run("TERMINATE ALL") == [TextResult("nothing terminated")]
    assert engine.run("SHOW QUERIES")[0].rows == []
    engine.run("DROP STREAM a; DROP STREAM b DELETE TOPIC;")
    assert engine.catalog.relations == []


def test_another_thread_interrupts_a_select(engine_factory):
    """Ctrl-C of the shell: Spark's job ends, a stream of rows ends, and the next SELECT works."""
    engine, pause = engine_factory(), threading.Event()
    engine.run(
        "CREATE STREAM many (n INT) WITH (kafka_topic='int_many', partitions=1);"
        f"INSERT INTO many VALUES {', '.join(f'({n})' for n in range(400))};"
    )
    slow = """SELECT COUNT(*) AS found FROM many a CROSS JOIN many b CROSS JOIN many c
              CROSS JOIN many d WHERE sin(a.n + b.n * c.n + d.n) > 2"""
    with ThreadPoolExecutor(1) as thread:
        counting = thread.submit(engine.run, slow)
        while not counting.done():
            if engine.activity.text == "reading the current records of many":
                engine.interrupt()
            pause.wait(0.2)
        with pytest.raises(SqlError):
            counting.result()
        following = thread.submit(
            lambda: list(engine.run("SELECT n FROM many EMIT CHANGES")[0].rows)
        )
        while engine.activity.text != "waiting for rows" and not following.done():
            pause.wait(0.05)
        engine.interrupt()
        following.result(RUN_SECONDS)
    (counted,) = engine.run("SELECT COUNT(*) AS found FROM many")
    assert counted.rows == [{"found": 400}]
    assert engine.activity.text is None


def test_settings(bad):
    told = ("auto.offset.reset is latest", "auto.offset.reset is earliest")
    results = bad.run(
        """UNSET 'auto.offset.reset'; SHOW PROPERTIES; SET 'auto.offset.reset'='earliest';"""
    )
    assert (results[0].text, results[2].text) == told
    assert results[1].rows == [{"property": "auto.offset.reset", "value": "latest"}]


@pytest.mark.parametrize(
    ("statement", "error"),
    [
        (
            "CREATE TABLE c (k VARCHAR, n INT) WITH (kafka_topic='bad_s')",
            "a table needs a key: mark a column as PRIMARY KEY",
        ),
        (
            "CREATE STREAM c (k VARCHAR) WITH (kafka_topic='bad_none')",
            "topic 'bad_none' does not exist: create it, or add partitions=… to WITH",
        ),
        (
            "CREATE TABLE c AS SELECT k, n FROM s",
            """line 1, column 19: the result is a stream: CREATE STREAM c AS …, or GROUP BY the """
            """key and take LATEST_BY_OFFSET of each column to make a table of it
  CREATE TABLE c AS SELECT k, n FROM s
                    ^""",
        ),
        (
            "CREATE STREAM c AS SELECT n, COUNT(*) AS x FROM s GROUP BY n",
            """line 1, column 20: the result has one row for each key: CREATE TABLE c AS …
  CREATE STREAM c AS SELECT n, COUNT(*) AS x FROM s GROUP BY n
                     ^""",
        ),
        (
            "INSERT INTO s SELECT k FROM s",
            """line 1, column 15: s has the columns (k STRING, n INT), the query returns (k STRING)
  INSERT INTO s SELECT k FROM s
                ^""",
        ),
        (
            "INSERT INTO s VALUES ('x', n + 1)",
            "n + 1 is not a constant, as VALUES needs: use INSERT INTO … SELECT",
        ),
        (
            "SELECT s.k FROM s JOIN s AS o ON s.k = o.k EMIT CHANGES",
            """line 1, column 34: a join of two streams needs WITHIN, which limits its state: """
            """JOIN … WITHIN 1 HOUR ON …
  SELECT s.k FROM s JOIN s AS o ON s.k = o.k EMIT CHANGES
                                   ^""",
        ),
        ("SELECT n, nn FROM s", "line 1, column 11: no column 'nn'; columns are n, k, ROWKEY"),
        ("SELECT n FROM s WINDOW TUMBLING (SIZE 1 HOUR) GROUP BY n", "add EMIT CHANGES"),
        ("PRINT nowhere", "topic 'nowhere' does not exist"),
        ("DESCRIBE nowhere", "no stream or table 'nowhere'"),
        ("EXPLAIN CSAS_X_1", "no query 'CSAS_X_1'; SHOW QUERIES lists all"),
        ("EXPLAIN SHOW STREAMS", "EXPLAIN needs a query or the id of a query"),
        ("DROP TABLE s", "s is a STREAM: DROP STREAM"),
        ("TERMINATE CSAS_X_1", "no query 'CSAS_X_1'"),
        ("SET 'auto.offset.reset'='never'", "auto.offset.reset must be one of earliest, latest"),
    ],
)
def test_errors_of_each_statement(bad, statement, error):
    """The place, the reason and the way out, as a person reads them."""
    with pytest.raises(SqlError) as caught:
        bad.run(statement)
    assert error in str(caught.value)


@pytest.fixture(scope="module")
def bad(engine_factory):
    engine = engine_factory("bad")
    engine.run("CREATE STREAM s (k VARCHAR KEY, n INT) WITH (kafka_topic='bad_s', partitions=1)")
    return engine


def test_or_replace(engine_factory):
    engine = engine_factory("replacing")
    engine.run(
        """CREATE STREAM a (k VARCHAR KEY, n INT) WITH (kafka_topic='rep_a', partitions=1);
           CREATE STREAM b WITH (kafka_topic='rep_b') AS SELECT k, n FROM a;
           CREATE OR REPLACE STREAM b WITH (kafka_topic='rep_b') AS SELECT k, n + 1 AS m FROM a;"""
    )
    assert [column.name for column in engine.catalog.relation("b").columns] == ["k", "m"]
    assert len(engine.catalog.queries) == 1
