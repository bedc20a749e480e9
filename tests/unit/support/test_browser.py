"""Waits of the browser tests while a page is replaced by the next one."""

import pytest
from support.console.browser import Browser

exceptions = pytest.importorskip("selenium.common.exceptions")

LEFT_PAGE = (
    'unknown error: unhandled inspector error: {"code":-32000,'
    '"message":"Node with given id does not belong to the document"}'
)


def failing_first(error, result):
    """Returns a condition that fails once, as a command does while the browser leaves a page."""
    errors = [error]

    def condition():
        if errors:
            raise errors.pop()
        return result

    return condition


@pytest.mark.parametrize(
    "error",
    [
        exceptions.WebDriverException(LEFT_PAGE),
        exceptions.WebDriverException("aborted by navigation: loader has changed"),
        exceptions.StaleElementReferenceException("stale element not found"),
        exceptions.NoSuchElementException("no such element: body"),
    ],
    ids=["inspector", "navigation", "stale", "missing"],
)
def test_a_wait_goes_on_when_the_page_is_replaced(error, monkeypatch):
    monkeypatch.setattr("time.sleep", lambda seconds: None)
    assert Browser(None, "").wait(failing_first(error, "found")) == "found"


def test_other_errors_of_the_browser_end_a_wait():
    error = exceptions.WebDriverException("disconnected: unable to connect to renderer")
    with pytest.raises(exceptions.WebDriverException, match="unable to connect"):
        Browser(None, "").wait(failing_first(error, "found"))


class EmptyPage:
    text = ""

    def find_element(self, kind, selector):
        return self


def test_the_text_of_an_empty_page_is_empty():
    assert Browser(EmptyPage(), "").text == ""
