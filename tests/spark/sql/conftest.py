"""Engines on the shared broker and the shared Spark session, each with a catalog of its own."""

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
