"""Pages on three brokers with ZooKeeper and ACLs; at the end one broker is killed."""

import asyncio
import re

import pytest
from kazoo.client import KazooClient
from support.cluster.throttles import throttle, throttled_replicas
from support.console.browser import new_browser
from support.console.process import ConsoleProcess
from support.transactions.requests import TxnPeer
from support.wire.peer import WirePeer

from barnabas import Admin, Producer
from barnabas.admin import NewTopic, ScramMechanism, ScramPassword
from barnabas.testing import Cluster
from barnabas.wire.messages.init_producer_id import InitProducerIdRequest

SETTINGS = {
    "authorizer.class.name": "kafka.security.authorizer.AclAuthorizer",
    "super.users": "User:ANONYMOUS",
    # A write without its coordinator's knowledge leaves a hanging transaction.
    "transaction.version": 1,
    "transaction.partition.verification.enable": "false",
}


@pytest.fixture(scope="module")
def three(chromium, tmp_path_factory):
    """The cluster; depends on the browser, so that nothing starts without one."""
    with Cluster(3, SETTINGS, data_dir=tmp_path_factory.mktemp("three")) as running:
        yield running


@pytest.fixture(scope="module")
def shop(three):
    """A topic on all brokers, one on broker 3 alone, and one on the brokers 1 and 2."""
    settings = {"bootstrap.servers": three.bootstrap_servers}
    with Admin(settings) as admin:
        topics = [
            NewTopic("orders", assignments=[[1, 2, 3], [2, 3, 1], [3, 1, 2]]),
            NewTopic("local", assignments=[[3]]),
            NewTopic("moving", configs=throttled_replicas(), assignments=[[1, 2]]),
        ]
        admin.create_topics(topics).check()
        password = ScramPassword("ada", "secret", ScramMechanism.SCRAM_SHA_256, 4096)
        admin.alter_scram_users([password]).check()
        for topic in topics:
            three.wait_until_known(topic.name)
        with Producer(settings) as producer:
            for number in range(300):
                producer.send("orders", b"%d" % number, key=b"%d" % number)
            for _ in range(20):  # more than one fetch of a follower, so that a throttle slows it
                producer.send("moving", bytes(250_000))
        yield admin


@pytest.fixture(scope="module")
def three_console(three, shop):
    running = ConsoleProcess(three.bootstrap_servers, "--zookeeper", three.zookeeper_connect)
    yield running
    running.stop()


@pytest.fixture
def page(chromium, three_console):
    browser = new_browser(chromium, three_console.url)
    browser.resize((1280, 900))
    yield browser
    assert browser.errors() == []


@pytest.fixture
def old_group(three, shop):
    """A group of the ZooKeeper consumer, without members."""
    client = KazooClient(three.zookeeper_connect)
    client.start(timeout=60)
    client.create("/consumers/old-reports/offsets/orders/0", b"7", makepath=True)
    yield "old-reports"
    client.stop()
    client.close()


def test_the_overview_names_zookeeper_and_three_brokers(page, three):
    page.open("/")
    page.shows(f"ZooKeeper at {three.zookeeper_connect}")
    page.shows("No problems found")
    page.has("main tbody tr", 3)


def test_partitions_are_drawn_over_the_brokers(page):
    page.open("/topics/orders")
    page.shows("Broker 3")
    page.wait(lambda: page.text.count("in sync") == 6)
    page.picture("three-topic")


def test_a_move_shows_its_progress_and_is_cancelled(page, three, shop):
    with throttle(three, 1000):
        page.open("/cluster?tab=Reassignments")
        page.click("Move a partition")
        page.fill("Topic", "moving")
        page.fill("Partition", "0")
        page.fill("Replicas", "1,3")
        page.click("Copy as CLI")
        page.shows("kafka-reassign-partitions")
        page.run_action()
        page.shows("moving-0")
        page.wait(lambda: re.search(r"\d+%", page.text))
        page.picture("reassignment")
        page.click("Cancel")
        page.shows("keeps the replicas that it had before")
        page.run_action()
        page.shows("No reassignment is in progress")
    assert list(shop.describe_topic("moving").partitions[0].replicas) == [1, 2]


def shows_after_reload(page, text):
    """Waits for a text; each broker applies a change of ACLs when it is notified of it."""

    def shown():
        page.reload()
        return text in page.text

    page.wait(shown, every=1)


def test_acls_are_a_matrix_and_are_created_and_deleted(page, shop):
    page.open("/cluster?tab=Access")
    page.shows("There are no ACLs")
    page.shows("ada")
    page.click("Create ACL")
    page.fill("Principal", "User:ada")
    page.choose("Operation", "read")
    page.fill("Resource name", "orders")
    page.click("Copy as Python")
    page.shows("AclBinding")
    page.run_action()
    shows_after_reload(page, "topic orders")
    page.picture("cluster-acls")
    page.wait(lambda: [item.entry.principal for item in shop.describe_acls()] == ["User:ada"])
    page.click("Delete")
    page.shows("User:ada: allow read on topic orders")
    page.run_action()
    shows_after_reload(page, "There are no ACLs")
    page.wait(lambda: list(shop.describe_acls()) == [])


@pytest.fixture
def hanging(three, shop):
    """A transaction in a partition of which no coordinator knows."""
    leader = three.brokers[1].address  # of partition 0

    async def write():
        peer = await WirePeer.connect(int(leader.rpartition(":")[2]))
        try:
            given = await peer.call(InitProducerIdRequest(None, 60_000), 4)
            producer = TxnPeer(peer, "gone", given.producer_id, given.producer_epoch)
            assert await producer.write("orders", b"open") == 0
        finally:
            await peer.close()

    asyncio.run(write())


def test_a_hanging_transaction_is_found_and_aborted(page, hanging):
    page.open("/cluster?tab=Transactions")
    page.click("Find hanging transactions")
    page.shows("orders-0")
    page.picture("transactions-hanging")
    page.click("Abort")
    page.click("Copy as CLI")
    page.shows("barnabas transactions abort orders:0")
    page.run_action()
    page.shows("No hanging transactions found")


def test_the_tree_of_zookeeper_is_read(page):
    page.open("/cluster?tab=ZooKeeper")
    page.shows("brokers")
    page.press('//*[contains(@class, "q-tree__node-header")]//*[text()="controller"]')
    page.shows('"brokerid"')
    page.picture("cluster-zookeeper")


def test_groups_in_zookeeper_are_listed_and_deleted(page, old_group):
    page.open("/groups")
    page.shows(old_group)
    page.shows("ZooKeeper")
    page.link(old_group)
    page.ready()
    page.shows("orders")
    page.picture("group-zookeeper")
    page.tab("Rebalances")
    page.shows("ZooKeeper keeps no history")
    page.click("Delete group")
    page.fill(f"Type {old_group} to confirm", old_group)
    page.click("Copy as CLI")
    page.shows(f"barnabas groups delete {old_group} --yes --zookeeper")
    page.run_action()
    page.wait(lambda: page.driver.current_url.endswith("/groups"))


def test_a_killed_broker_is_a_problem_in_plain_words(page, three):
    """The last test of the module: the brokers elect other leaders."""
    page.open("/")
    page.shows("No problems found")
    three.kill(3)
    page.shows("Broker 3 is down or unreachable", 60)
    page.shows("1 partition has no leader and cannot be used: local")
    page.shows("have replicas that are not in sync")
    page.picture("overview-killed-broker")
    page.open("/topics/orders")
    page.shows("offline")
    page.picture("topic-killed-broker")
    page.open("/topics/local")
    page.shows("no leader")
    page.open("/topics/orders/records")
    page.shows("of about 30")
    page.open("/topics/local/records")
    page.shows("LEADER_NOT_AVAILABLE")
    page.picture("records-without-leader")
    page.open("/cluster?tab=Elections")
    page.click("Elect unclean leaders")
    page.fill("Topic", "local")
    page.fill("Partition", "0")
    page.fill("Type unclean to confirm", "unclean")
    page.run_action()
    page.shows("0 leaders elected; local-0:")
    three.start(3)
    page.open("/")
    page.shows("No problems found", 60)
    page.open("/cluster?tab=Elections")
    page.click("Elect preferred leaders")
    page.run_action()
    page.wait(lambda: re.search(r"\d leaders? elected", page.text))
