"""Transactions while their leaders and coordinators are killed: whole or not at all, and once."""

import pytest
from support.cluster.workload import leader_of, leaders, wait_until
from support.transactions.transactional_load import TransactionWriter, torn_transactions

pytestmark = [pytest.mark.faults, pytest.mark.xdist_group("cluster"), pytest.mark.timeout(120)]

PARTITIONS = 3
KILLS = 2


def test_transactions_are_whole_across_fail_over(cluster, topic_name):
    cluster.topic(topic_name, partitions=PARTITIONS)
    wait_until(lambda: all(len(p.isr) == 3 for p in leaders(cluster, topic_name).values()))
    writer = TransactionWriter(cluster, topic_name, PARTITIONS)
    writer.start()
    wait_until(lambda: len(writer.committed) > 5, what="the first transactions")
    for turn in range(KILLS):
        place = ("__transaction_state", topic_name)[turn % 2]
        victim = leader_of(cluster, place)
        cluster.kill(victim)
        before = len(writer.committed)
        wait_until(lambda before=before: len(writer.committed) > before + 5, what="commits")
        cluster.start(victim)
    writer.stop()
    assert writer.error is None
    found = {}
    # The last one is committed before its markers are everywhere.
    written = {"at_least": PARTITIONS * len(writer.committed), "timeout": 30}
    for record in cluster.records(topic_name, read_committed=True, **written):
        found.setdefault(record.value, []).append(record.partition)
    assert torn_transactions(found, PARTITIONS, writer.committed) == (set(), set())
    print(f"transactions: {len(writer.committed)} committed, {writer.aborted} aborted")
