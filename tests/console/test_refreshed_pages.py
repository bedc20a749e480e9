"""Actions of the user on a page while it is read again, as some pages are every few seconds.

The browser sends no click if the page replaces an element between the press and the release of the
mouse button, and the console ignores an event of an element that it has replaced meanwhile.
"""

import re
from pathlib import Path

import pytest
import support.console
from selenium.webdriver.common.keys import Keys
from support.console.browser import new_browser
from support.console.process import ConsoleProcess

from barnabas.spark.pipeline_registry import PipelineRegistry

CHANGING_FIGURES = Path(support.console.__path__[0]) / "changing_figures.py"
CANCEL = "main table button"
QUESTION = "moving-0 keeps the replicas that it had before"
LATE_EVENTS = """
const emit = window.socket.emit;
window.socket.emit = (...message) => setTimeout(() => emit.apply(window.socket, message), 5000);
"""
PIPELINE = {
    "state": "running",
    "file": "totals.yaml",
    "checkpoint": "/checkpoints/totals",
    "started": "2024-01-01T00:00:00+00:00",
    "updated": "2024-01-01T00:00:01+00:00",
    "batch_ms": 80,
}


@pytest.fixture(scope="module")
def changing_console(chromium, broker):
    """A console that shows a reassignment and other figures after each read."""
    running = ConsoleProcess(broker.bootstrap_servers, program=(str(CHANGING_FIGURES),))
    yield running
    running.stop()


@pytest.fixture
def changing(chromium, changing_console):
    """The browser at the console whose figures change."""
    browser = new_browser(chromium, changing_console.url)
    yield browser
    assert browser.errors() == []


@pytest.fixture
def page(changing):
    """The page with the reassignment."""
    changing.open("/cluster?tab=Reassignments")
    changing.shows("moving-0")
    return changing


def changing_figure(page):
    """Returns the progress of the reassignment or the number of topics."""
    return re.search(r"\d+%|1,\d{3}", page.text)[0]


def wait_for_refresh(page):
    before = changing_figure(page)
    page.wait(lambda: changing_figure(page) != before)


def test_a_button_that_is_held_while_the_table_is_read_again_is_pressed(page):
    with page.pressing(CANCEL):
        wait_for_refresh(page)
    page.shows(QUESTION)


def test_a_click_that_arrives_after_the_table_was_read_again_has_an_effect(page):
    page.driver.execute_script(LATE_EVENTS)
    page.click("Cancel")
    wait_for_refresh(page)
    page.shows(QUESTION)


def test_a_button_keeps_the_focus_while_the_table_is_read_again(page):
    page.driver.execute_script(f"document.querySelector('{CANCEL}').focus()")
    wait_for_refresh(page)
    page.driver.switch_to.active_element.send_keys(Keys.ENTER)
    page.shows(QUESTION)


def test_a_dialog_stays_open_while_the_table_is_read_again(page):
    page.click("Cancel")
    page.shows(QUESTION)
    wait_for_refresh(page)
    page.run_action()
    page.shows("No reassignment is in progress")


def test_a_link_that_is_held_while_the_list_is_read_again_is_followed(browser, state_dir, request):
    name = "held-totals"
    file = state_dir / f"{name}.json"
    request.addfinalizer(file.unlink)

    def write(lag):
        PipelineRegistry(state_dir).write(name, {**PIPELINE, "name": name, "lag": lag})

    write(111)
    browser.open("/pipelines")
    browser.shows("111")
    with browser.pressing(f'a[href="/pipelines/{name}"]'):
        write(222)
        browser.shows("222")
    browser.wait(lambda: browser.driver.current_url.endswith(f"/pipelines/{name}"))
    browser.ready()


def test_a_link_of_a_problem_that_is_held_while_the_overview_is_read_again_is_followed(changing):
    changing.open("/")
    changing.shows("moving-0 is moved")
    with changing.pressing('main a[href="/topics/moving"]'):
        wait_for_refresh(changing)
    changing.wait(lambda: changing.driver.current_url.endswith("/topics/moving"))
