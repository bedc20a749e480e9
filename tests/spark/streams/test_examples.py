"""The examples run on a broker and Spark."""

import importlib.util
import sys
from pathlib import Path

import pytest
from pyspark import cloudpickle
from support.pipelines.streams_model import BEGIN

from barnabas.streams import TableView
from barnabas.streams.testing import Bench, Fed
from barnabas.testing import Broker

EXAMPLES = Path(__file__).parents[3] / "examples" / "streams"
pytestmark = [
    pytest.mark.integration,
    pytest.mark.xdist_group("spark-queries"),
    pytest.mark.timeout(600),
]


@pytest.fixture(scope="module")
def own_broker():
    """The examples' topics have names that other tests may use too."""
    with Broker() as broker:
        yield broker


@pytest.fixture
def bench(own_broker, kafka_spark, tmp_path):
    return Bench(own_broker.bootstrap_servers, kafka_spark, tmp_path)


@pytest.fixture
def example(monkeypatch, tmp_path):
    """An example as a module; it writes its files to the directory of the test."""
    monkeypatch.chdir(tmp_path)
    loaded = []

    def load(name):
        spec = importlib.util.spec_from_file_location(f"example_{name}", EXAMPLES / f"{name}.py")
        module = importlib.util.module_from_spec(spec)
        monkeypatch.setitem(sys.modules, module.__name__, module)
        spec.loader.exec_module(module)
        # Spark's workers cannot import it: its classes go to them by value.
        cloudpickle.register_pickle_by_value(module)
        loaded.append(module)
        return module.topology

    yield load
    for module in loaded:
        cloudpickle.unregister_pickle_by_value(module)


def test_hello(bench, example):
    bench.feed("names", ["zhangsan", "lisi"])
    bench.run(example("hello"))
    assert bench.rows("greetings") == [b"Hello, zhangsan", b"Hello, lisi"]


def test_word_count(bench, example, tmp_path):
    topology = example("word_count")
    bench.feed("lines", ["one two two", "Three three"])
    bench.run(topology)
    bench.feed("lines", ["three"])
    bench.run(topology)
    found = {key: row["count"] for key, row in bench.table("word-counts").items()}
    assert found == {"one": 1, "two": 2, "three": 3}
    with TableView(str(tmp_path / "word-count.db"), "counts") as view:
        assert view.get("three") == {"word": "three", "count": 3}
        assert [row.key for row in view.scan(start="p")] == ["three", "two"]
        assert len(view) == 3


def test_notifications(bench, example):
    user = {"name": "Ann", "email": "ann@example.org"}
    changes = [Fed(user, "ann", BEGIN), Fed(None, "ann", BEGIN + 2)]
    bench.feed("users", changes)
    sent = [("ann", 1, "early"), ("bob", 1, "who"), ("ann", 3, "late")]
    bench.feed(
        "notifications",
        [Fed({"user": who, "text": text}, who, BEGIN + at) for who, at, text in sent],
    )
    bench.run(example("notifications"))
    letter = {"to": "ann@example.org", "text": "Dear Ann: early"}
    bench.check_rows("letters", [letter])
    bench.check_rows("letters-unknown", [{"text": "Dear bob: who"}, {"text": "Dear ann: late"}])


def test_fraud(bench, example):
    def paid(card, minute, amount, country="NL"):
        value = {"card": card, "amount": amount, "country": country}
        return Fed(value, card, BEGIN + minute * 60_000)

    bench.feed(
        "payments",
        [
            *(paid("gold", minute, 500.0) for minute in (8, 0, 17)),
            *(paid("blue", minute, 5.0) for minute in (0, 9, 30)),
            *(paid("red", minute, 1.0, country) for minute, country in enumerate("ABA")),
            paid("gold", 200, 1.0),
        ],
    )
    bench.run(example("fraud"))
    found = {row["card"]: row for row in bench.rows("suspicious")}
    assert set(found) == {"gold", "red"}
    assert (found["gold"]["payments"], found["gold"]["total"]) == (3, 1500.0)
    assert found["red"]["countries"] == ["A", "B"]
