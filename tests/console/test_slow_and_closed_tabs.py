"""A tab that is slow or closed at any time leaves no traceback in the console's output."""

import pytest
from support.console.browser import new_browser
from support.console.process import ConsoleProcess

PATHS = (
    "/",
    "/topics",
    "/topics/{topic}",
    "/topics/{topic}/records",
    "/groups",
    "/cluster",
    "/sql",
)
STAGES = (
    "document.readyState !== 'loading'",
    "document.querySelector('main')",
    "window.did_handshake",
    "document.querySelector('main[data-ready]')",
)
"""Conditions at which a tab is closed: before, while and after the page is drawn."""


@pytest.fixture
def own_console(chromium, broker):
    running = ConsoleProcess(broker.bootstrap_servers)
    yield running
    running.stop()


def test_a_slow_tab_leaves_no_traceback(chromium, own_console):
    page = new_browser(chromium, own_console.url)
    chromium.execute_cdp_cmd("Emulation.setCPUThrottlingRate", {"rate": 12})
    try:
        page.open("/")
        page.shows("Brokers")
    finally:
        chromium.execute_cdp_cmd("Emulation.setCPUThrottlingRate", {"rate": 1})
        chromium.get("about:blank")
    own_console.stop()
    assert own_console.errors == "", own_console.errors


def test_tabs_that_are_closed_early_leave_no_traceback(chromium, own_console, broker, topic_name):
    broker.topic(topic_name)
    page = new_browser(chromium, own_console.url)
    main = chromium.current_window_handle
    for path in PATHS:
        for stage in STAGES:
            chromium.switch_to.new_window("tab")
            address = own_console.url + path.format(topic=topic_name)
            chromium.execute_script("location.assign(arguments[0])", address)
            page.wait(lambda stage=stage: chromium.execute_script(f"return {stage}"))
            chromium.close()
            chromium.switch_to.window(main)
    own_console.stop()
    assert own_console.errors == "", own_console.errors
