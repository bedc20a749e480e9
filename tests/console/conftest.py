"""One broker, one console process and one headless Chromium for all tests of the pages.

The tests are one xdist group, so that a run starts each of them once. Without Chromium and its
driver they are skipped.
"""

import shutil

import pytest
from support.console.browser import new_browser
from support.console.process import ConsoleProcess

from barnabas import Admin
from barnabas.spark.pipeline_registry import STATE_DIR

NO_ANIMATIONS = """
document.addEventListener("DOMContentLoaded", () => {
  const style = document.createElement("style");
  style.textContent = "* { transition: none !important; animation-duration: 0s !important; }";
  document.head.append(style);
});
"""


@pytest.hookimpl(tryfirst=True)
def pytest_itemcollected(item):
    # Before pytest-xdist reads the groups, also in a run of this folder alone.
    item.add_marker(pytest.mark.integration)
    item.add_marker(pytest.mark.xdist_group("console"))


@pytest.fixture(scope="session")
def state_dir(tmp_path_factory):
    """The directory in which pipelines leave their status for the console."""
    return tmp_path_factory.mktemp("pipelines")


@pytest.fixture(scope="session")
def console(broker, state_dir):
    running = ConsoleProcess(broker.bootstrap_servers, env={STATE_DIR: str(state_dir)})
    yield running
    running.stop()
    assert running.errors == "", running.errors


@pytest.fixture(scope="session")
def admin(broker):
    with Admin({"bootstrap.servers": broker.bootstrap_servers}) as client:
        yield client


@pytest.fixture(scope="session")
def chromium():
    """The browser process; use the fixture `browser`."""
    driver, program = shutil.which("chromedriver"), shutil.which("chromium")
    if driver is None or program is None:
        pytest.skip("no browser: the packages chromium and chromium-driver are not installed")
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    options = webdriver.ChromeOptions()
    options.binary_location = program
    for flag in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    running = webdriver.Chrome(options=options, service=Service(driver))
    # A click on a dialog that is still moving would hit the element beside its target.
    running.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": NO_ANIMATIONS})
    yield running
    running.quit()


@pytest.fixture
def browser(chromium, console):
    """The browser at the session's console; fails the test if a page logged an error."""
    page = new_browser(chromium, console.url)
    yield page
    assert page.errors() == []
