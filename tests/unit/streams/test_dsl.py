"""Definitions: frozen, checked at creation, drawn, and split into queries."""

from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from barnabas.model.errors import ConfigError
from barnabas.streams import Stream, Table, Topology, session, sliding, tumbling
from barnabas.streams.nodes import ErrorPolicy, Map, Rekey
from barnabas.streams.stages import is_native


@dataclass
class Order:
    user: str
    amount: float


@dataclass
class Bill:
    total: float


def bill(order: Order) -> Bill:
    return Bill(order.amount)


def bills(order: Order) -> Iterator[Bill]:
    yield Bill(order.amount)


orders = Stream("orders", Order)
users = Table("users", "name string, city string")
cities = Table("cities", "mayor string")


def names(topology):
    return [stage.name for stage in topology.plan().stages]


def test_definitions_are_frozen():
    with pytest.raises(AttributeError):
        orders.node = users.node
    with pytest.raises(AttributeError):
        orders.node.topic = None
    with pytest.raises(AttributeError):
        Topology("t", orders.to("x")).name = "other"


def test_schemas_come_from_annotations():
    assert isinstance(orders.map(bill).node, Map)
    assert orders.map(bill).node.into.record is Bill
    assert orders.flat_map(bills).node.into.record is Bill
    with pytest.raises(ConfigError, match="give into="):
        orders.map(lambda order: order)


def test_invalid_definitions_are_rejected():
    with pytest.raises(ConfigError, match="both sides of a join are called 'o'"):
        orders.join(users, aliases=("o", "o"))
    with pytest.raises(ConfigError, match="needs 'within'"):
        orders.join(orders)
    with pytest.raises(ConfigError, match="with inner or left"):
        orders.join(users, kind="full")
    with pytest.raises(ConfigError, match="'within' is for two streams"):
        orders.join(users, within="1 s")
    with pytest.raises(ConfigError, match="inner or left"):
        users.join(cities, on="city", kind="full")
    with pytest.raises(ConfigError, match="never become final"):
        orders.group_by("user").emit("final")
    with pytest.raises(ConfigError, match=r"late_to\(\) needs a window"):
        orders.group_by("user").late_to("late")
    with pytest.raises(ConfigError, match="cannot be windowed"):
        users.group_by("city").windowed(tumbling("1 s"))
    with pytest.raises(ConfigError, match="give 'amount > 1' a name"):
        orders.group_by("amount > 1")
    with pytest.raises(ConfigError, match="at least one column"):
        orders.with_columns()
    with pytest.raises(ConfigError, match="_key is reserved"):
        orders.with_columns(_key="user")
    with pytest.raises(ConfigError, match="no sink"):
        Topology("t")
    with pytest.raises(ConfigError, match="letters"):
        Topology("a b", orders.to("x"))
    with pytest.raises(ConfigError, match="is a table"):
        Stream(users.node)


def test_groups_by_a_function_are_keyed_by_it():
    node = orders.group_by(lambda order: order.user).count().node
    assert isinstance(node.parent, Rekey)
    assert node.keys == (("key", "_key"),)


def test_sinks_of_one_source_share_a_query():
    low, high = orders.branch("amount < 10")
    assert names(Topology("t", low.to("low"), high.to("high"))) == ["1-stateless"]


def test_state_on_state_goes_through_a_topic():
    counts = orders.join(users, on="user").group_by("city").count()
    topology = Topology("t", counts.to("counts"))
    made = topology.plan()
    assert [stage.name for stage in made.stages] == ["1-streamtablejoin", "2-aggregate"]
    assert [topic.name for topic in made.cuts.values()] == ["t-1-repartition"]
    joined = counts.join(cities)
    made = Topology("t", joined.to("out")).plan()
    assert [topic.name for topic in made.cuts.values()] == ["t-1-repartition", "t-2-changelog"]


def test_writers_come_before_readers():
    later = Stream("made", Order).group_by("user").count().to("counts")
    first = orders.filter("amount > 1").to("made")
    assert names(Topology("t", later, first)) == ["1-stateless", "2-aggregate"]


def test_a_merge_of_state_and_source_reads_both_from_topics():
    sums = orders.group_by("user").sum("amount", "amount").changes()
    made = Topology("t", sums.merge(orders).to("all")).plan()
    assert [stage.name for stage in made.stages] == ["1-aggregate", "2-stateless"]


def test_nodes_that_spark_runs_itself():
    groups = orders.group_by("user")
    assert is_native(groups.count().node)
    assert is_native(groups.windowed(tumbling("1 s")).count().node)
    assert is_native(groups.windowed(session("1 s")).emit("final").count().node)
    assert is_native(orders.join(orders, within="1 s").node)
    assert not is_native(groups.windowed(session("1 s")).count().node)
    assert not is_native(groups.windowed(sliding("1 s")).count().node)
    assert not is_native(groups.windowed(tumbling("1 s")).late_to("late").count().node)
    assert not is_native(users.group_by("city").count().node)
    assert not is_native(orders.join(users).node)
    assert not is_native(users.join(cities).node)


def test_a_topology_is_drawn_as_a_tree():
    counts = orders.join(users, on="user").group_by("city").count()
    topology = Topology("shop", counts.to("counts"), counts.view("v.db"))
    assert topology.explain() == "\n".join(
        [
            "topology shop",
            "  [1] stream orders",
            "  └─ [3] inner join with table",
            "     └─ [4] count by city, emit changes",
            "        ├─ [5] to counts",
            "        └─ [6] view view in v.db",
            "  [2] table users",
            "  └─ [3] inner join with table (above)",
            "queries",
            "  1-streamtablejoin [3]: to shop-1-repartition (internal)",
            "  2-aggregate [4]: to counts, view view in v.db",
        ]
    )
    assert "n1 --> n3" in topology.explain("mermaid")


def test_a_step_or_the_topology_sets_the_error_policy():
    """The policy of a step, or of the topology; a mistake raises in the user's line."""
    orders = Stream("orders", "user string")
    skipping = orders.map(str, into="user string", on_error="skip")
    assert skipping.node.on_error == ErrorPolicy("skip")
    topology = Topology("app", skipping.to("a"), orders.to("b"), on_error="dlq")
    assert topology.dead_letter_topics() == {"app.dlq"}
    assert Topology("app", orders.to("b"), dead_letter_topic="dead").on_error.action == "dlq"
    assert Topology("app", orders.to("b")).dead_letter_topics() == set()
    with pytest.raises(ConfigError, match="on_error='ignore': must be one of stop, skip, dlq"):
        orders.map(str, into="user string", on_error="ignore")
    with pytest.raises(ConfigError, match="dead_letter_topic='x' needs on_error='dlq'"):
        Topology("app", orders.to("b"), on_error="skip", dead_letter_topic="x")
