"""Exceptions of Python functions: stop the query, skip the row, or write a dead letter."""

import json
import sys
from dataclasses import dataclass

import pytest
from pyspark import cloudpickle
from support.pipelines.streams_model import BEGIN

from barnabas.model.errors import LocalError
from barnabas.streams import Stream, Topology
from barnabas.streams.testing import Fed

pytestmark = [
    pytest.mark.integration,
    pytest.mark.xdist_group("spark-queries"),
]


@dataclass(frozen=True)
class Order:
    user: str
    pieces: int


@dataclass(frozen=True)
class Share:
    user: str
    each: int


@dataclass(frozen=True)
class Total:
    pieces: int = 0


def shared(order: Order) -> Share:
    return Share(order.user, 12 // order.pieces)


def wrong_type(order: Order) -> Share:
    return Share(order.user, "none" if order.pieces == 0 else order.pieces)


def doubled(batch):
    import pyarrow as pa
    import pyarrow.compute as pc

    each = pc.divide(pa.array([12] * batch.num_rows), batch.column("pieces"))
    return pa.RecordBatch.from_arrays([batch.column("user"), each], names=["user", "each"])


def summed(total: Total, order: Order) -> Total:
    return Total(total.pieces + 12 // order.pieces)


@pytest.fixture(autouse=True)
def by_value():
    """Spark's workers cannot import a test module."""
    module = sys.modules[__name__]
    cloudpickle.register_pickle_by_value(module)
    yield
    cloudpickle.unregister_pickle_by_value(module)


@pytest.fixture
def orders(kafka_streams, topic_name):
    pieces = [("ann", 1), ("bob", 0), ("ann", 3)]
    fed = [Fed(Order(user, n), user, BEGIN + n) for user, n in pieces]
    kafka_streams.feed(topic_name, fed)
    return Stream(topic_name, Order)


def values(bench, topic):
    return [record.value for record in bench.records(topic)]


def test_stop_names_the_record_and_a_dead_letter_lets_the_query_continue(
    kafka_streams, orders, topic_name, broker
):
    """The same checkpoint: the policy is all that changes between the two runs."""
    out, dead = f"{topic_name}-out", f"{topic_name}-dead"
    with pytest.raises(LocalError, match=r"map shared: partition 0, offset 1: ZeroDivisionError"):
        kafka_streams.run(Topology(topic_name, orders.map(shared).to(out)))
    again = Topology(topic_name, orders.map(shared).to(out), on_error="dlq", dead_letter_topic=dead)
    kafka_streams.run(again)
    kafka_streams.run(again)
    assert values(kafka_streams, out) == [{"user": "ann", "each": 12}, {"user": "ann", "each": 4}]
    (letter,) = broker.records(dead, read_committed=True)
    assert (letter.key, json.loads(letter.value)) == (b"bob", {"user": "bob", "pieces": 0})
    assert letter.timestamp == BEGIN
    headers = dict(letter.headers)
    assert headers["dlq.topic"] == topic_name.encode()
    assert (headers["dlq.partition"], headers["dlq.offset"]) == (b"0", b"1")
    assert headers["dlq.error.class"] == b"ZeroDivisionError"


def test_every_kind_of_function(kafka_streams, orders, topic_name, broker):
    """One query: several outputs of one source; each has its own dead letters."""
    name = topic_name
    sinks = {
        "flat": orders.flat_map(lambda order: [shared(order)], into=Share),
        "arrow": orders.map(doubled, into=Share, style="arrow"),
        "type": orders.map(wrong_type),
        "filter": orders.filter(lambda order: 12 // order.pieces > 0),
        "key": orders.select_key(lambda order: 12 // order.pieces),
        "skip": orders.map(shared, on_error="skip"),
    }
    ends = [stream.to(f"{name}-{kind}") for kind, stream in sinks.items()]
    kafka_streams.run(Topology(name, *ends, on_error="dlq"))
    for kind in sinks:
        users = [value["user"] for value in values(kafka_streams, f"{name}-{kind}")]
        assert users == ["ann", "ann"], kind
    letters = broker.records(f"{name}.dlq", read_committed=True)
    assert [letter.key for letter in letters] == [b"bob"] * 5


def test_a_fold_keeps_the_state_before_the_record(kafka_streams, orders, topic_name, broker):
    kafka_streams.feed(topic_name, [Fed(Order("ann", 0), "ann"), Fed(Order("ann", 6), "ann")])
    totals = orders.group_by("user").fold(Total, summed, on_error="dlq")
    kafka_streams.run(Topology(topic_name, totals.to(f"{topic_name}-out")))
    assert kafka_streams.table(f"{topic_name}-out") == {"ann": {"pieces": 18}}
    letters = broker.records(f"{topic_name}.dlq", read_committed=True)
    assert sorted(letter.key for letter in letters) == [b"ann", b"bob"]
