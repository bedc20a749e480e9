"""Leaders cut off from their followers or from ZooKeeper, under two idempotent producers."""

import threading

import pytest
from support.cluster.cut_cluster import CutCluster
from support.cluster.workload import (
    BarnabasWriter,
    ConfluentWriter,
    judge,
    leader_in_zookeeper,
    leaders,
    replicas_differ,
    state_in_zookeeper,
    wait_until,
)

pytestmark = [pytest.mark.faults, pytest.mark.xdist_group("cluster")]

PARTITIONS = 2


@pytest.fixture(scope="module")
def cut_cluster(tmp_path_factory):
    settings = {"replica.lag.time.max.ms": 1500, "request.timeout.ms": 4000}
    with CutCluster(3, settings, data_dir=tmp_path_factory.mktemp("cut")) as running:
        yield running


@pytest.fixture
def load(cut_cluster, topic_name):
    cut_cluster.topic(topic_name, partitions=PARTITIONS)
    wait_until(lambda: in_sync(cut_cluster, topic_name) == 3)
    writers = [
        BarnabasWriter("b", cut_cluster, topic_name, PARTITIONS),
        ConfluentWriter("c", cut_cluster, topic_name, PARTITIONS),
    ]
    for writer in writers:
        writer.start()
    wait_until(lambda: all(len(w.acknowledged.offsets) > 100 for w in writers))
    yield writers
    for writer in writers:
        writer.stop()


def test_leader_cut_off_from_its_followers(cut_cluster, topic_name, load):
    """It may lead alone, but acknowledges nothing that it alone has."""
    leader = leaders(cut_cluster, topic_name)[0].leader
    cut_cluster.peers[leader].cut()
    try:
        wait_until(
            lambda: state_in_zookeeper(cut_cluster, topic_name)["isr"] == [leader],
            what="an ISR of the leader alone",
        )
        stalled = [len(w.acknowledged.offsets) for w in load]
        threading.Event().wait(1.0)  # for acknowledgements of records that the leader alone has
    finally:
        cut_cluster.peers[leader].heal()
    figures = settle(cut_cluster, topic_name, load)
    print(f"cut from followers: acknowledged before {stalled}, {figures}")
    assert_all_well(cut_cluster, topic_name, figures)


def test_leader_cut_off_from_zookeeper(cut_cluster, topic_name, load):
    """Others elect another leader; what the old one appended meanwhile was never acknowledged."""
    before = leaders(cut_cluster, topic_name)[0]
    cut_cluster.keepers[before.leader].cut()
    try:
        gone = (-1, before.leader)
        wait_until(lambda: leader_in_zookeeper(cut_cluster, topic_name) not in gone)
        threading.Event().wait(2.0)  # for appends of the old leader, which it may not acknowledge
    finally:
        cut_cluster.keepers[before.leader].heal()
    figures = settle(cut_cluster, topic_name, load)
    print(f"cut from ZooKeeper: {figures}")
    assert_all_well(cut_cluster, topic_name, figures)
    assert leaders(cut_cluster, topic_name)[0].leader_epoch > before.leader_epoch


def in_sync(cluster, topic):
    return min(len(p.isr) for p in leaders(cluster, topic).values())


def settle(cluster, topic, writers):
    wait_until(lambda: in_sync(cluster, topic) == 3, what="ISR 3")
    counts = [len(w.acknowledged.offsets) for w in writers]
    wait_until(
        lambda: all(len(w.acknowledged.offsets) > n for w, n in zip(writers, counts, strict=True)),
        what="acknowledgements after the fault",
    )
    for writer in writers:
        writer.stop()
    return judge(cluster, topic, writers)


def assert_all_well(cluster, topic, figures):
    found = {name: figures[name] for name in ("lost", "duplicates", "reordered", "misplaced")}
    assert found == {"lost": 0, "duplicates": 0, "reordered": 0, "misplaced": 0}
    assert replicas_differ(cluster, topic, PARTITIONS) == []
