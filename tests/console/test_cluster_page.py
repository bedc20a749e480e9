"""The tabs of the cluster page in a real browser."""

import asyncio

import pytest
from support.console.browser import NARROW
from support.transactions.requests import TxnPeer
from support.wire.peer import WirePeer

from barnabas.admin import ConfigResource

TABS = {
    "Configuration": "num.partitions",
    "Log directories": "online",
    "Reassignments": "No reassignment is in progress",
    "Elections": "preferred election",
    "Transactions": "Hanging transactions",
    "Access": "The cluster has no authorizer",
    "Quotas": "Set a quota",
    "Versions": "FETCH",
}


def test_every_tab_shows_its_subject(browser):
    browser.open("/cluster")
    for name, text in TABS.items():
        browser.tab(name)
        if name == "Configuration":
            browser.fill("Search keys", "num.partitions")
        browser.shows(text)
        browser.picture(f"cluster-{name.lower()}")


def test_a_broker_setting_is_changed_and_reset(browser, admin):
    browser.open("/cluster")
    browser.fill("Search keys", "log.cleaner.threads")
    browser.click("Edit log.cleaner.threads")
    browser.fill("Value", "2")
    browser.run_action()
    browser.shows("Changed")
    browser.click("Edit log.cleaner.threads")
    browser.press(".q-dialog .q-checkbox")
    browser.run_action()
    browser.wait(lambda: "dynamic broker" not in browser.text)


def test_a_quota_is_set(browser, admin, topic_name):
    browser.open("/cluster?tab=Quotas")
    browser.click("Set a quota")
    browser.fill("User", topic_name)
    browser.fill("Value", "4096")
    browser.run_action()
    browser.shows(f"user {topic_name}")
    browser.shows("producer_byte_rate = 4096")


def test_preferred_leaders_are_elected(browser):
    browser.open("/cluster?tab=Elections")
    browser.click("Elect preferred leaders")
    browser.run_action()
    browser.shows("0 leaders elected")


def test_hanging_transactions_are_searched(browser):
    browser.open("/cluster?tab=Transactions")
    browser.click("Find hanging transactions")
    browser.shows("No hanging transactions found")


@pytest.fixture
def hanging(broker, admin, topic_name):
    """A transaction in one partition of which the coordinator does not know."""
    broker.topic(topic_name)
    (node,) = admin.describe_cluster().brokers
    resource = ConfigResource.broker(node.id)
    setting = "transaction.partition.verification.enable"
    admin.alter_configs({resource: {setting: "false"}}).check()

    async def write():
        peer = await WirePeer.connect(node.port)
        producer = TxnPeer(peer, topic_name)
        assert await producer.init() == 0
        assert await producer.write(topic_name, b"open") == 0
        await peer.close()

    asyncio.run(write())
    yield topic_name
    admin.alter_configs({resource: {setting: None}}).check()


def test_a_hanging_transaction_is_found_and_aborted(browser, broker, hanging):
    browser.open("/cluster?tab=Transactions")
    browser.click("Find hanging transactions")
    browser.shows(f"{hanging}-0")
    browser.picture("transactions-hanging")
    browser.click("Abort")
    browser.click("Copy as CLI")
    browser.shows(f"barnabas transactions abort {hanging}:0")
    browser.run_action()
    browser.shows("No hanging transactions found")
    assert broker.records(hanging, read_committed=True) == []


@pytest.mark.parametrize("tab", ["Configuration", "Versions"])
def test_the_tabs_fit_narrow_windows(browser, tab):
    browser.resize(NARROW)
    browser.open(f"/cluster?tab={tab}")
    browser.shows("Key")
    assert browser.overflow() <= 0
    browser.picture(f"cluster-{tab.lower()}-narrow")
