"""The kinds of query that the quick start has not: one run of all of them, then a look at each."""

import pytest
from support.sql_topics import rows, table, wait_gone

from barnabas.streams.sql.engine.results import Message

pytestmark = [
    pytest.mark.integration,
    pytest.mark.xdist_group("spark"),
    pytest.mark.timeout(600),
]

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

CREATE STREAM everything (id VARCHAR KEY, customer VARCHAR)
  WITH (kafka_topic='st_everything', partitions=1, retention_ms=-1);
INSERT INTO everything SELECT id, customer FROM orders WHERE customer = 'ann';
INSERT INTO everything SELECT id, customer FROM orders WHERE customer = 'bob';
"""


CHANGES = """
INSERT INTO cities (ROWTIME, city, country) VALUES (5, 'Prague', 'Czechia');
INSERT INTO orders VALUES ('o5', 'bob', STRUCT(name := 'tea', price := 1), 72000);
"""
STREAMS = ("st_by_customer", "st_paid", "st_everything")
TABLES = ("st_sessions", "st_spent", "st_lived_in")


@pytest.fixture(scope="module")
def runs(engine_factory, broker):
    """What the topics had after a run, and after another one with changes before it.

    Before the second run all queries but three are terminated.
    """
    servers = broker.bootstrap_servers
    engine = engine_factory("statements")
    assert all(isinstance(result, Message) for result in engine.run(STATEMENTS))
    found = []
    for more in ("", CHANGES):
        engine.run(more)
        engine.run_available()
        for query in engine.catalog.queries:
            if query.target not in ("by_customer", "spent", "lived_in"):
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


def test_two_queries_into_one_stream(runs):
    assert sorted(key for key, _ in runs[0]["st_everything"]) == ["o1", "o2", "o3", "o4"]


def test_queries_go_on_from_where_they_stood(runs):
    second = runs[1]
    assert second["st_lived_in"] == {"ann": {"country": "Czechia"}, "bob": {"country": "DE"}}
    assert second["st_spent"]["bob"]["total"] == 5.0
    assert second["st_spent"]["ann"] == runs[0]["st_spent"]["ann"]
    assert second["st_by_customer"][4:] == [("bob", {"item": "tea", "clock": "01:12"})]
    assert second["st_everything"] == runs[0]["st_everything"]


def test_terminate_and_drop(engine_factory):
    engine = engine_factory("ending")
    engine.run(
        """CREATE STREAM a (k VARCHAR KEY, n INT) WITH (kafka_topic='end_a', partitions=1);
           CREATE STREAM b WITH (kafka_topic='end_b') AS SELECT k, n FROM a;
           CREATE TABLE c WITH (kafka_topic='end_c') AS
             SELECT n, COUNT(*) AS x FROM b GROUP BY n;"""
    )
    (query,) = [q.query_id for q in engine.catalog.queries if q.target == "c"]
    assert engine.run(f"TERMINATE {query.lower()}") == [Message(f"{query} terminated")]
    assert [q.target for q in engine.catalog.queries] == ["b"]
    engine.run("DROP TABLE c DELETE TOPIC; DROP STREAM b;")
    assert engine.catalog.queries == []
    assert [relation.name for relation in engine.catalog.relations] == ["a"]
    wait_gone(engine, "end_c")
    assert "end_b" in engine.topic_names()
    assert engine.run("DROP TABLE IF EXISTS c") == [Message("there is no c")]


def test_or_replace(engine_factory):
    engine = engine_factory("replacing")
    engine.run(
        """CREATE STREAM a (k VARCHAR KEY, n INT) WITH (kafka_topic='rep_a', partitions=1);
           CREATE STREAM b WITH (kafka_topic='rep_b') AS SELECT k, n FROM a;
           CREATE OR REPLACE STREAM b WITH (kafka_topic='rep_b') AS SELECT k, n + 1 AS m FROM a;"""
    )
    assert [column.name for column in engine.catalog.relation("b").columns] == ["k", "m"]
    assert len(engine.catalog.queries) == 1
