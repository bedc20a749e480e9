"""A lost checkpoint: LostStateError, or a rebuild."""

import shutil

import pytest
from support.pipelines.streams_model import BEGIN

from barnabas.admin import Admin
from barnabas.model.ids import TopicPartition
from barnabas.streams import LostStateError, Stream, Topology
from barnabas.streams.testing import Fed

pytestmark = [
    pytest.mark.integration,
    pytest.mark.xdist_group("spark-queries"),
]


def order(user, number):
    return Fed({"user": user}, user, BEGIN + number)


def lose_first_record(bench, topic):
    with Admin({"bootstrap.servers": bench.bootstrap_servers}) as admin:
        admin.delete_records({TopicPartition(topic, 0): 1}).check()


def test_a_count_does_not_silently_go_from_two_to_one(kafka_streams, topic_name, tmp_path):
    """Its source no longer has the first of two records; with the checkpoint it counts on."""
    out, view = f"{topic_name}-counts", str(tmp_path / "view.db")
    counts = Stream(topic_name, "user string").group_by("user").count()
    topology = Topology(topic_name, counts.to(out), counts.view(view))
    kafka_streams.feed(topic_name, [order("ann", 0), order("ann", 1)])
    kafka_streams.run(topology)
    assert kafka_streams.table(out) == {"ann": {"user": "ann", "count": 2}}
    lose_first_record(kafka_streams, topic_name)
    shutil.rmtree(kafka_streams.directory / topic_name)
    with pytest.raises(LostStateError, match=f"output topic {out} has records already") as failure:
        kafka_streams.run(topology)
    assert "lost_state='rebuild'" in str(failure.value)
    assert kafka_streams.table(out) == {"ann": {"user": "ann", "count": 2}}
    kafka_streams.run(topology, lost_state="rebuild")
    assert kafka_streams.table(out) == {"ann": {"user": "ann", "count": 1}}
    kafka_streams.feed(topic_name, [order("ann", 2)])
    kafka_streams.run(topology)
    assert kafka_streams.table(out) == {"ann": {"user": "ann", "count": 2}}


def test_a_rebuild_does_not_read_internal_topics_twice(kafka_streams, topic_name):
    """Merged streams go through an internal topic, from which the second query counts."""
    first, second = Stream(topic_name, "user string"), Stream(f"{topic_name}-2", "user string")
    counts = first.group_by("user").count()
    sizes = counts.group_by(size="count").count("users")
    out = f"{topic_name}-sizes"
    topology = Topology(topic_name, sizes.to(out), second.to(f"{topic_name}-copy"))
    kafka_streams.feed(topic_name, [order("ann", 0), order("bob", 1)])
    kafka_streams.feed(f"{topic_name}-2", [order("eve", 0)])
    kafka_streams.run(topology)
    assert kafka_streams.table(out) == {"1": {"size": 1, "users": 2}}
    shutil.rmtree(kafka_streams.directory / topic_name)
    with pytest.raises(LostStateError, match="-changelog has records already"):
        kafka_streams.run(topology)
    kafka_streams.run(topology, lost_state="rebuild")
    assert kafka_streams.table(out) == {"1": {"size": 1, "users": 2}}


def test_a_checkpoint_without_its_state_is_rejected(kafka_streams, topic_name):
    """The tables that queries keep in Parquet are a directory of their own."""
    users = Stream(f"{topic_name}-users", "city string").to_table(f"{topic_name}-table")
    joined = Stream(topic_name, "user string").join(users, on="user")
    topology = Topology(topic_name, joined.to(f"{topic_name}-out"))
    kafka_streams.feed(f"{topic_name}-users", [Fed({"city": "Bern"}, "ann", BEGIN)])
    kafka_streams.feed(topic_name, [order("ann", 1)])
    kafka_streams.run(topology)
    (state,) = (kafka_streams.directory / topic_name).glob("*-state")
    shutil.rmtree(state)
    kafka_streams.feed(topic_name, [order("ann", 2)])
    with pytest.raises(Exception, match="no state of an earlier one"):
        kafka_streams.run(topology)
