"""Every operator except windows and joins, in as few queries as possible."""

import sys
from collections.abc import Iterator
from dataclasses import dataclass

import pytest
from pyspark import cloudpickle
from support.pipelines.streams_model import BEGIN

from barnabas.streams import Stream, Topic, Topology, vectorised
from barnabas.streams.run import output_schema, read_bounded
from barnabas.streams.testing import Fed

pytestmark = [
    pytest.mark.integration,
    pytest.mark.xdist_group("spark-queries"),
    pytest.mark.timeout(600),
]


@dataclass(frozen=True)
class Order:
    user: str
    pieces: int
    price: float


@dataclass(frozen=True)
class Bill:
    user: str
    total: float


@dataclass(frozen=True)
class Piece:
    user: str
    number: int


@dataclass(frozen=True)
class Account:
    orders: int = 0
    last: float = 0.0


def bill(order: Order) -> Bill:
    return Bill(order.user.upper(), order.pieces * order.price)


def pieces(order: Order) -> Iterator[Piece]:
    return (Piece(order.user, number) for number in range(order.pieces))


def booked(account: Account, order: Order) -> Account | None:
    if order.pieces == 0:
        return None
    return Account(account.orders + 1, order.price)


def doubled(batch):
    import pyarrow.compute as pc

    return batch.set_column(2, "price", pc.multiply(batch.column("price"), 2))


def halved(frame):
    return frame.assign(price=frame["price"] / 2)


@vectorised("double")
def squared(column):
    import pyarrow.compute as pc

    return pc.multiply(column, column)


@pytest.fixture(autouse=True)
def by_value():
    """Spark's workers cannot import a test module."""
    module = sys.modules[__name__]
    cloudpickle.register_pickle_by_value(module)
    yield
    cloudpickle.unregister_pickle_by_value(module)


ORDERS = [Order("ann", 1, 2.0), Order("bob", 2, 1.5), Order("ann", 3, 5.0), Order("eve", 0, 9.0)]


@pytest.fixture
def orders(kafka_streams, topic_name):
    fed = [Fed(order, order.user, BEGIN + n) for n, order in enumerate(ORDERS)]
    kafka_streams.feed(topic_name, fed)
    return Stream(topic_name, Order)


def stateless(orders, name):
    many, few, none = orders.branch(lambda order: order.pieces > 2, "pieces > 0")
    return {
        "map": orders.map(bill).to(f"{name}-map"),
        "filter": orders.filter(lambda order: order.user != "bob").to(f"{name}-filter"),
        "flat-map": orders.flat_map(pieces).to(f"{name}-flat-map"),
        "branch": many.merge(none).to(f"{name}-branch"),
        "few": few.select_key("cast(pieces as string)").to(f"{name}-few"),
        "columns": orders.with_columns(total="price * pieces", price="price + 1").to(
            f"{name}-columns"
        ),
        "arrow": orders.map(doubled, into=Order, style="arrow").to(f"{name}-arrow"),
        "pandas": orders.map(halved, into=Order, style="pandas").to(f"{name}-pandas"),
        "select": orders.select("user", square="squared(price)", at="unix_millis(_timestamp)")
        .select_key(lambda row: f"{row.user}!")
        .to(f"{name}-select"),
    }


def test_without_state(kafka_streams, orders, topic_name):
    """One query: all sinks have one source."""
    sinks = stateless(orders, topic_name)
    topology = Topology(topic_name, *sinks.values(), functions=[squared])
    assert topology.explain().count("stateless") == 1
    kafka_streams.run(topology)
    found = {name: kafka_streams.records(sink.topic.name) for name, sink in sinks.items()}
    values = {name: [record.value for record in records] for name, records in found.items()}
    bills = [{"user": o.user.upper(), "total": o.pieces * o.price} for o in ORDERS]
    assert values["map"] == bills
    assert [record.timestamp - BEGIN for record in found["map"]] == [0, 1, 2, 3]
    assert [record.key for record in found["map"]] == ["ann", "bob", "ann", "eve"]
    assert [row["user"] for row in values["filter"]] == ["ann", "ann", "eve"]
    assert [row["number"] for row in values["flat-map"]] == [0, 0, 1, 0, 1, 2]
    assert sorted(row["user"] for row in values["branch"]) == ["ann", "eve"]
    assert [(r.key, r.value["user"]) for r in found["few"]] == [("1", "ann"), ("2", "bob")]
    assert values["columns"] == [
        {"user": o.user, "pieces": o.pieces, "price": o.price + 1, "total": o.price * o.pieces}
        for o in ORDERS
    ]
    assert [row["price"] for row in values["arrow"]] == [order.price * 2 for order in ORDERS]
    assert [row["price"] for row in values["pandas"]] == [order.price / 2 for order in ORDERS]
    assert [row["square"] for row in values["select"]] == [order.price**2 for order in ORDERS]
    assert [row["at"] for row in values["select"]] == [BEGIN + n for n in range(4)]
    assert [record.key for record in found["select"]] == ["ann!", "bob!", "ann!", "eve!"]


def test_with_state(kafka_streams, orders, topic_name, kafka_spark):
    """A chain of queries: through a topic, a stream as a table, its changes as a stream, a fold."""
    name = topic_name
    passed = orders.through(f"{name}-through")
    totals = passed.group_by("user").aggregate(
        n="count(*)", total="sum(price)", mean="avg(price)", least="min(pieces)", most="max(pieces)"
    )
    latest = orders.filter("pieces > 0").to_table(f"{name}-latest")
    accounts = orders.group_by("user").fold(Account, booked)
    seen = []

    def see(frame, batch_id):
        seen.extend((row.user, row.pieces) for row in frame.collect())

    topology = Topology(
        name,
        totals.to(f"{name}-totals"),
        latest.changes().for_each(see),
        accounts.to(f"{name}-accounts"),
    )
    more = [Fed(Order("bob", 0, 1.0), "bob", BEGIN + 9), Fed(Order("ann", 4, 1.0), "ann", BEGIN)]
    kafka_streams.feed(topic_name, more)
    # Two micro-batches: what the first has kept, the second goes on from.
    kafka_streams.run(topology, options={"maxOffsetsPerTrigger": "4"})
    ann = {"user": "ann", "n": 3, "total": 8.0, "mean": 8 / 3, "least": 1, "most": 4}
    assert kafka_streams.table(f"{name}-totals")["ann"] == ann
    assert kafka_streams.table(f"{name}-accounts") == {"ann": {"orders": 3, "last": 1.0}}
    # The topic is compacted: who reads it may miss what has been replaced, never the last.
    assert dict(seen) == {"ann": 4, "bob": 2}
    check_bounded(kafka_streams, kafka_spark, totals, latest)


def check_bounded(bench, spark, totals, latest):
    """The same definitions as a bounded read."""
    assert output_schema(totals.node, spark).names[:2] == ("user", "n")
    found = read_bounded(latest.node, spark, bench.bootstrap_servers).collect()
    assert sorted((row.user, row.pieces) for row in found) == [("ann", 4), ("bob", 2)]
    sums = read_bounded(totals.node, spark, bench.bootstrap_servers).where("user = 'ann'")
    assert [row.total for row in sums.collect()] == [8.0]


def test_keys_and_formats(kafka_streams, topic_name):
    """A key column that stays out of the value, a time from the row, numbers for keys."""
    kafka_streams.feed(topic_name, [Fed("5,x", "7"), Fed("6,y", "8"), Fed(None, "9")])
    topic = Topic(
        topic_name,
        Stream("any", "at bigint, what string").node.topic.schema,
        value_format="csv",
        key_type="bigint",
        key_column="id",
        timestamp=f"timestamp_millis({BEGIN} + at)",
    )
    rows = Stream(topic).select("id", "what", double="id * 2")
    out = f"{topic_name}-out"
    kafka_streams.run(Topology(topic_name, rows.to(out, key_column="double")))
    found = kafka_streams.records(out)
    assert [(r.key, r.value) for r in found] == [
        ("14", {"id": 7, "what": "x"}),
        ("16", {"id": 8, "what": "y"}),
        ("18", None),
    ]
    assert [r.timestamp for r in found[:2]] == [BEGIN + 5, BEGIN + 6]


def with_total(frame):
    return frame.withColumn("total", frame["pieces"] * frame["price"]).drop("_offset")


def test_frames_and_sparks_own_sinks(kafka_streams, orders, topic_name, tmp_path):
    """A DataFrame function as a step; files as the only sink, and beside another."""
    totals = orders.apply(with_total).filter("total > 2")
    alone, beside = str(tmp_path / "alone"), str(tmp_path / "beside")
    kafka_streams.run(Topology(f"{topic_name}-a", totals.to_format("parquet", path=alone)))
    both = [totals.to_format("parquet", path=beside), totals.to(f"{topic_name}-out")]
    kafka_streams.run(Topology(f"{topic_name}-b", *both))
    expected = [("ann", 15.0), ("bob", 3.0)]
    for path in (alone, beside):
        frame = kafka_streams.spark.read.parquet(path)
        assert frame.columns == ["user", "pieces", "price", "total"]
        assert sorted((row.user, row.total) for row in frame.collect()) == expected
    written = kafka_streams.records(f"{topic_name}-out")
    assert [record.value["total"] for record in written] == [3.0, 15.0]
