"""The tabs of the cluster page in a real browser."""

import pytest
from support.console.browser import NARROW

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


@pytest.mark.parametrize("tab", ["Configuration", "Versions"])
def test_the_tabs_fit_narrow_windows(browser, tab):
    browser.resize(NARROW)
    browser.open(f"/cluster?tab={tab}")
    browser.shows("Key")
    assert browser.overflow() <= 0
    browser.picture(f"cluster-{tab.lower()}-narrow")
