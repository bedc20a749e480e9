"""Pages while no broker or no ZooKeeper responds, and after the broker is back."""

import pytest
from support.cluster.zookeeper import running_zookeeper
from support.console.browser import new_browser
from support.console.process import ConsoleProcess

from barnabas.testing import Broker

SHOWN_S = 60
RECOVERED_S = 60
UNREACHABLE = "The cluster does not answer"


@pytest.fixture(scope="module")
def fragile(chromium, tmp_path_factory):
    """A broker that tests stop and start again on its port; needs the browser."""
    running = Broker(data_dir=tmp_path_factory.mktemp("fragile")).start()
    running.topic("orders", partitions=2)
    yield running
    running.stop()


@pytest.fixture(scope="module")
def zookeeper_server(chromium, tmp_path_factory):
    with running_zookeeper(tmp_path_factory.mktemp("zookeeper")) as running:
        yield running


@pytest.fixture(scope="module")
def fragile_console(fragile, zookeeper_server):
    zookeeper = zookeeper_server.connect_string
    running = ConsoleProcess(fragile.bootstrap_servers, "--zookeeper", zookeeper)
    yield running
    running.stop()


@pytest.fixture
def page(chromium, fragile_console):
    yield new_browser(chromium, fragile_console.url)
    chromium.get("about:blank")


@pytest.fixture
def outage(fragile):
    """Ends and starts the broker; it runs again after the test."""
    outage = Outage(fragile)
    yield outage
    outage.end()


class Outage:
    def __init__(self, broker):
        self._broker = broker
        self._stopped = False

    def begin(self):
        self._broker._end_thread()
        self._stopped = True

    def end(self):
        if self._stopped:
            self._broker.start()
            self._stopped = False


def test_refresh_reports_that_no_broker_responds_and_the_page_recovers(page, outage):
    page.open("/topics")
    page.shows("orders")
    outage.begin()
    page.click("Refresh")
    page.shows(UNREACHABLE, SHOWN_S)
    page.shows("Shown data was read before", SHOWN_S)
    assert "orders" in page.text
    page.picture("outage")
    outage.end()
    page.wait(lambda: UNREACHABLE not in page.text, RECOVERED_S)
    page.wait(lambda: "UNAVAILABLE" not in page.text, RECOVERED_S)
    assert "orders" in page.text


@pytest.mark.parametrize("path", ["/", "/topics/orders", "/groups", "/cluster", "/sql"])
def test_an_open_page_notices_the_outage_without_a_click(page, outage, path):
    page.open(path)
    outage.begin()
    page.shows(UNREACHABLE, SHOWN_S)
    outage.end()
    page.wait(lambda: UNREACHABLE not in page.text, RECOVERED_S)


def test_a_page_opened_during_the_outage_shows_its_contents_afterwards(page, outage):
    outage.begin()
    page.open("/topics/orders")
    page.shows(UNREACHABLE, SHOWN_S)
    page.shows("Try again", SHOWN_S)
    outage.end()
    page.shows("2 partitions", RECOVERED_S)
    # The browser may still have to apply a later part of the update.
    page.wait(lambda: "Try again" not in page.text, RECOVERED_S)


def test_the_error_names_a_zookeeper_that_does_not_respond(page, zookeeper_server):
    page.open("/cluster?tab=ZooKeeper")
    page.shows("zookeeper")
    zookeeper_server.pause()
    try:
        page.press('//*[@role="tree"]//*[text()="zookeeper"]')
        page.shows(f"no ZooKeeper server at {zookeeper_server.connect_string} answers", SHOWN_S)
        page.reload()
        page.shows(f"no ZooKeeper server at {zookeeper_server.connect_string} answers", SHOWN_S)
        page.picture("zookeeper-unreachable")
    finally:
        zookeeper_server.resume()
    page.shows("1 child")  # without a click
    assert "Try again" not in page.text
