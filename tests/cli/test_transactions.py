"""Transactions in the tools' eyes: open, described, aborted by force."""

import json

import pytest

from barnabas import Producer

pytestmark = pytest.mark.integration


@pytest.fixture
def hanging(broker, topic_name):
    """An open transaction in partition 0."""
    broker.topic(topic_name)
    settings = {"bootstrap.servers": broker.bootstrap_servers, "transactional.id": topic_name}
    producer = Producer(settings)
    producer.init_transactions()
    producer.begin_transaction()
    producer.send(topic_name, b"a").result(60)
    yield topic_name
    producer.close(0)


def test_open_transactions(cli, broker, hanging):
    servers = broker.bootstrap_servers
    ran = cli("transactions", "list", "--state", "Ongoing", "--format", "json", servers=servers)
    assert hanging in [item["transactional_id"] for item in json.loads(ran.out)]
    ran = cli("transactions", "describe", hanging, "--format", "json", servers=servers)
    (described,) = json.loads(ran.out)
    assert (described["state"], described["partitions"]) == ("Ongoing", [f"{hanging}-0"])
    ran = cli("txn", "describe", "absent", servers=servers)
    assert ran.code == 1
    assert "TRANSACTIONAL_ID_NOT_FOUND" in ran.err


def test_abort(cli, broker, hanging):
    servers, place = broker.bootstrap_servers, f"{hanging}:0"
    abort = ("transactions", "abort", place)
    assert cli(*abort, servers=servers).code == 2
    ran = cli(*abort, "--start-offset", "7", servers=servers)
    assert "no such open transaction" in ran.err
    assert cli(*abort, "--start-offset", "0", "--dry-run", servers=servers).code == 0
    ran = cli(*abort, "--start-offset", "0", "--yes", servers=servers)
    assert ran.code == 0, ran.err
    ran = cli("transactions", "producers", place, "--format", "json", servers=servers)
    assert json.loads(ran.out)[0]["transaction_start_offset"] is None
    assert broker.records(hanging, read_committed=True) == []


def test_apache_abort(cli, broker, hanging):
    tool = ("kafka-transactions", "--bootstrap-server", broker.bootstrap_servers)
    place = ("--topic", hanging, "--partition", "0")
    ran = cli(*tool, "abort", *place, "--start-offset", "9")
    assert "Could not find any open transactions starting at offset 9" in ran.err
    assert cli(*tool, "abort", *place, "--start-offset", "0")[:2] == (0, "")
    ran = cli(*tool, "describe-producers", *place)
    assert ran.lines[1].split("\t")[5].strip() == "None"
    ran = cli(*tool, "find-hanging", "--topic", hanging)
    assert ran.lines[0].startswith("Topic\tPartition\tProducerId")


def test_reading_past_markers_and_up_to_an_open_transaction(cli, broker, hanging):
    """Ends where the reader may see to, never waiting for the transaction to end."""
    servers = broker.bootstrap_servers
    settings = {"bootstrap.servers": servers, "transactional.id": f"{hanging}-2"}
    with Producer(settings) as producer:
        producer.init_transactions()
        producer.begin_transaction()
        producer.send(hanging, b"b")
        producer.commit_transaction()
    read = ("consume", hanging, "-o", ":end", "--format", "raw", "--isolation-level")
    assert cli(*read, "read_uncommitted", servers=servers).out == "a\nb\n"
    assert cli(*read, "read_committed", servers=servers).out == ""
    ran = cli("topics", "dump", hanging, servers=servers)
    assert "dumped 0 records" in ran.err
    cli("transactions", "abort", f"{hanging}:0", "--start-offset", "0", "--yes", servers=servers)
    assert cli(*read, "read_committed", servers=servers).out == "b\n"
