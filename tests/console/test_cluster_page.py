"""The tabs of the cluster page in a real browser."""

import pytest
from support.console.browser import NARROW, new_browser
from support.console.process import ConsoleProcess
from support.network.scrape import wait_for_metric

from barnabas import Producer
from barnabas.testing import Broker

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


def test_a_quota_is_set_and_deleted(browser, admin, topic_name):
    browser.open("/cluster?tab=Quotas")
    browser.click("Set a quota")
    browser.run_action()
    browser.shows("A user, a client id or an IP address is required")
    browser.fill("User", topic_name)
    browser.run_action()
    browser.shows("The value is required")
    browser.fill("Value", "12345678")
    browser.run_action()
    browser.shows(f"user {topic_name}")
    browser.shows("producer_byte_rate = 12345678")
    browser.picture("cluster-quotas-set")
    row = f'//tr[.//*[contains(text(), "user {topic_name}")]]'
    browser.press(f"{row}//button")
    browser.click("Copy as CLI")
    browser.shows("--delete-config producer_byte_rate")
    browser.run_action()
    browser.shows("No quotas are set")
    assert admin.describe_client_quotas() == {}


def test_preferred_leaders_are_elected(browser):
    browser.open("/cluster?tab=Elections")
    browser.click("Elect preferred leaders")
    browser.run_action()
    browser.shows("0 leaders elected")


def test_hanging_transactions_are_searched(browser):
    browser.open("/cluster?tab=Transactions")
    browser.click("Find hanging transactions")
    browser.shows("No hanging transactions found")


@pytest.mark.parametrize("tab", ["Configuration", "Versions"])
def test_the_tabs_fit_narrow_windows(browser, tab):
    browser.resize(NARROW)
    browser.open(f"/cluster?tab={tab}")
    browser.shows("Key")
    browser.fits()
    browser.picture(f"cluster-{tab.lower()}-narrow")


def test_a_client_that_pushes_metrics_and_its_values(chromium):
    config = {"http.listener": "0", "client.telemetry.interval.ms": 200}
    with Broker(in_memory=True, config=config) as broker:
        servers = broker.bootstrap_servers
        console = ConsoleProcess(servers, "--metrics-url", broker.http_url)
        try:
            with Producer(bootstrap_servers=servers, client_id="pushing") as producer:
                producer.send(broker.topic(), b"x").result(60)
                name = "kafka_client_telemetry"
                wait_for_metric(broker.http_url, name, lambda _: True, client_id="pushing")
                page = new_browser(chromium, console.url)
                page.open("/cluster?tab=Clients")
                page.shows("pushing")
                page.click("Metrics")
                page.shows("Metrics of pushing")
                page.shows("org.apache.kafka.producer")
                page.picture("cluster-clients")
                assert page.errors() == []
        finally:
            console.stop()
