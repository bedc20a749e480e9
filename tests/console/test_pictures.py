"""Pictures of a cluster with data, for docs/console.md, and rates on open pages."""

import threading

import pytest

from barnabas import Consumer, Producer

START_MS = 1_700_000_000_000
MINUTE_MS = 60_000
SAMPLES_S = 100
"""The console samples less often if a sample takes long, as on a busy machine."""


@pytest.fixture(scope="module")
def shop(admin, broker):
    """Topics of a shop, and a producer that writes until the tests end."""
    settings = {"bootstrap.servers": broker.bootstrap_servers}
    for name, partitions in (("orders", 6), ("payments", 3), ("clicks", 12)):
        # The orders are old: retention must not delete them during slow tests.
        admin.create_topic(name, partitions=partitions, configs={"retention.ms": "-1"})
    with Producer(settings) as producer:
        for number in range(3000):
            minute = number % 60 * (1 + number % 7)
            producer.send(
                "orders",
                key=b"customer-%d" % (number % 97),
                value=b'{"order": %d, "total": %d.50}' % (number, number % 500),
                timestamp=START_MS + minute * MINUTE_MS,
            )
            producer.send("payments", value=b'{"payment": %d}' % number)
    for group, share in (("billing", 0.8), ("warehouse", 0.35)):
        with Consumer({**settings, "group.id": group, "enable.auto.commit": False}) as consumer:
            consumer.assign([("orders", partition) for partition in range(6)])
            consumer.commit({("orders", partition): int(500 * share) for partition in range(6)})
    ended = threading.Event()
    writer = threading.Thread(target=_write, args=(settings, ended))
    writer.start()
    yield
    ended.set()
    writer.join(60)


def _write(settings, ended):
    with Producer(settings) as producer:
        while not ended.wait(0.02):
            for number in range(20):
                producer.send("clicks", value=b'{"page": %d}' % number)


def points(browser):
    """Returns the number of points in the first chart of the page."""
    chart = browser.chart()
    return len(chart["series"][0].get("data", ())) if chart and chart["series"] else 0


def test_rates_are_drawn_while_the_overview_is_open(browser, shop):
    browser.open("/")
    browser.shows("No problems found")
    browser.wait(lambda: points(browser) >= 2, SAMPLES_S)
    browser.picture("overview")


def test_the_list_of_topics_has_rates_groups_and_lag(browser, shop):
    browser.open("/topics")
    browser.fill("Search", "o")
    browser.shows("orders")

    def has_lag():
        browser.click("Refresh")
        lines = browser.text.splitlines()
        row = next((line for line in lines if line.startswith("orders")), "")
        return len(row.split()) > 6 and row.split()[6] not in ("-", "0")

    browser.wait(has_lag, SAMPLES_S, every=1)
    browser.picture("topics")


def test_the_page_of_a_topic_with_groups(browser, shop):
    """Passes when the page shows the position of the group and a chart."""

    def groups_shown():
        browser.open("/topics/orders")
        return "billing: lag" in browser.text

    browser.wait(groups_shown, SAMPLES_S, every=1)
    browser.wait(lambda: browser.driver.find_elements("css selector", "main canvas"))
    browser.picture("topic")
