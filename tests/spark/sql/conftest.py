"""Engines on the shared broker and the shared Spark session, each with a catalog of its own.

Where each statement runs against a broker and Spark:

| statement | tests |
|---|---|
| CREATE STREAM, TABLE over a topic | all; JSON, DELIMITED, key=: quick start; Avro: models |
| CREATE … AS: stateless, GROUP BY, TUMBLING | quick start |
| … HOPPING, SESSION EMIT FINAL (late rows in soaks) | models |
| … SESSION EMIT CHANGES; aggregates | statements |
| … TUMBLING EMIT FINAL with late rows | cases, which run examples |
| … stream and table, LEFT and INNER | quick start, models |
| … stream and stream, INNER and FULL (LEFT, RIGHT in soaks) | statements, models |
| … table and table: by key FULL (others in soaks), by foreign key LEFT | models, statements |
| … PARTITION BY, partitions=, INSERT INTO … SELECT beside it | models, statements |
| CREATE OR REPLACE, IF NOT EXISTS | statements, quick start |
| INSERT INTO … VALUES | all |
| SELECT: joins, aggregates, WITH, UNION, sub-query, OVER, ORDER BY, LIMIT | quick start, models |
| SELECT … EMIT CHANGES LIMIT | quick start, statements |
| SHOW, DESCRIBE [EXTENDED], PRINT FROM BEGINNING LIMIT, EXPLAIN of a statement | quick start |
| EXPLAIN of a query that runs, TERMINATE, DROP [DELETE TOPIC], DROP refused | statements |
| SET, UNSET, SHOW PROPERTIES; keys that are numbers in Kafka's bytes | statements |
| errors of each | statements, quick start |
| queries after a restart, a kill, in another process, from another state directory | restarts |
"""

import itertools
import os

import pytest

from barnabas.streams.sql.engine.engine import Engine

_numbers = itertools.count()


@pytest.fixture(scope="session")
def engine_factory(broker, spark, tmp_path_factory):
    """Make engines: `name` shares a catalog and a state directory between several."""
    made = []
    places = {}

    def make(name=None, **options):
        name = name or f"one-{next(_numbers)}"
        topic = f"_sql_{os.getpid()}_{name}"
        place = places.setdefault(name, tmp_path_factory.mktemp("sql"))
        settings = {"bootstrap.servers": broker.bootstrap_servers}
        options = {"run_queries": False, "state_dir": place, **options}
        engine = Engine(settings, spark=spark, topic=topic, **options)
        engine.properties["auto.offset.reset"] = "earliest"
        made.append(engine)
        return engine

    yield make
    for engine in made:
        engine.close()
