"""A page in a real browser, as the tests of the console use it."""

import base64
import contextlib
import re
from pathlib import Path

PICTURES = Path(__file__).parents[3] / "build" / "console"
WIDE = (1280, 900)
NARROW = (400, 800)
MAX_HEIGHT = 2400
WAIT_S = 60


def new_browser(driver, base_url):
    """Returns a Browser without a page and its messages, with a wide window.

    All tests share the driver. The console of the page of the test before may have ended, so that
    the page logs that it cannot connect to it, and the test may have made the window narrow.
    """
    browser = Browser(driver, base_url)
    driver.get("about:blank")
    browser.errors()
    browser.resize(WIDE)
    return browser


class Browser:
    """Actions of the tests on a page; see `new_browser`.

    Pages draw parts of themselves again while a test looks at them, so an action names its element
    and finds it anew in each attempt, until it succeeded or `WAIT_S` have passed.
    """

    def __init__(self, driver, base_url):
        self.driver = driver
        self.base_url = base_url

    def wait(self, condition, seconds=WAIT_S, every=0.05):
        """Returns the first true result of `condition`, also if the page is replaced meanwhile.

        A condition that loads a page is evaluated once a second (`every`): a page takes the browser
        and the console seconds of CPU time, which the awaited process needs.
        """
        from selenium.common.exceptions import WebDriverException
        from selenium.webdriver.support.ui import WebDriverWait

        def attempt(_):
            try:
                return condition()
            except WebDriverException as error:
                if _page_was_replaced(error):
                    return None
                raise

        return WebDriverWait(self.driver, seconds, poll_frequency=every).until(attempt)

    def open(self, path):
        """Opens a page and waits until its contents are there."""
        self.driver.get(self.base_url + path)
        self.ready()

    def ready(self):
        """Waits until the contents of the page are there."""
        self.find("main[data-ready] h1")

    def reload(self):
        self.driver.refresh()
        self.ready()

    def find(self, selector):
        """Returns the first visible element of a CSS selector."""
        return self.wait(lambda: self._visible("css selector", selector))

    def button(self, text):
        """Returns the visible button with this text or this label for screen readers."""
        return self.wait(lambda: self._visible("xpath", _button_path(text), last=True))

    def click(self, text):
        """Presses a button; the last one with this text, which is in the open dialog."""
        self.press(_button_path(text), last=True)

    def link(self, text):
        """Follows a link and waits for the page."""
        self.press(f"//a[normalize-space(.)={_quoted(text)}]")

    def tab(self, text):
        """Selects a tab."""
        tab = f'//*[@role="tab" and .//*[normalize-space(text())={_quoted(text)}]]'
        self.press(tab)
        self.wait(lambda: self.driver.find_elements("xpath", f'{tab}[@aria-selected="true"]'))

    def run_action(self):
        """Presses the button that runs the action of the open dialog."""
        self.press(".q-dialog .run-action")

    def press(self, selector, last=False):
        """Clicks the visible and enabled element of a CSS selector or of a path with //."""
        from selenium.common.exceptions import (
            ElementClickInterceptedException,
            ElementNotInteractableException,
        )

        kind = "xpath" if selector.startswith("//") else "css selector"

        def clicked():
            found = self._visible(kind, selector, last=last)
            if found is None or not found.is_enabled():
                return False
            try:
                found.click()
            except ElementClickInterceptedException:
                self._close_notifications()
                return False
            except ElementNotInteractableException:
                return False
            return True

        self.wait(clicked)

    @contextlib.contextmanager
    def pressing(self, selector):
        """Holds the mouse button down on an element, which the page may draw again meanwhile."""
        from selenium.webdriver.common.action_chains import ActionChains

        ActionChains(self.driver).click_and_hold(self.find(selector)).perform()
        yield
        ActionChains(self.driver).release().perform()

    def fill(self, label, text):
        """Types into the visible field with this label, after clearing it."""
        path = f"//label[.//*[normalize-space(text())={_quoted(label)}]]"
        path += "//*[self::input or self::textarea]"
        path += f" | //*[(self::input or self::textarea) and @aria-label={_quoted(label)}]"

        def typed():
            field = self._visible("xpath", path, last=True)
            if field is None or not field.is_enabled():
                return None
            field.send_keys("\ue009a\ue000", "\ue003", text)  # Ctrl-A, release, Backspace
            return field if field.get_property("value") == text else None

        return self.wait(typed)

    def choose(self, label, option):
        """Selects an option of a list."""
        self.press(f"//label[.//*[normalize-space(text())={_quoted(label)}]]", last=True)
        self.press(f'//*[@role="option" and normalize-space(.)={_quoted(option)}]')

    def choose_file(self, path):
        """Gives a file to the upload element of the page."""
        found = self.wait(lambda: self.driver.find_elements("xpath", '//input[@type="file"]'))
        found[-1].send_keys(str(path))

    def downloads(self, directory):
        """Writes files that the page downloads to a directory."""
        settings = {"behavior": "allow", "downloadPath": str(directory)}
        self.driver.execute_cdp_cmd("Page.setDownloadBehavior", settings)

    def _visible(self, kind, selector, last=False):
        found = [item for item in self.driver.find_elements(kind, selector) if item.is_displayed()]
        return found[-1 if last else 0] if found else None

    def _close_notifications(self):
        """Removes messages that cover an element; the user would close them or wait."""
        self.driver.execute_script(
            "document.querySelectorAll('.q-notification').forEach(item => item.remove())"
        )

    @property
    def text(self):
        """The visible text of the page."""
        # In a tuple, because an empty text is a result too.
        (shown,) = self.wait(lambda: (self.driver.find_element("css selector", "body").text,))
        return shown

    def shows(self, text, seconds=WAIT_S):
        """Waits until the page shows a text."""
        from selenium.common.exceptions import TimeoutException

        try:
            self.wait(lambda: text in self.text, seconds)
        except TimeoutException:
            raise AssertionError(f"{text!r} is not in:\n{self.text}") from None

    def picture(self, name):
        """Writes a screenshot of the whole page to build/console and returns its path."""
        PICTURES.mkdir(parents=True, exist_ok=True)
        path = PICTURES / f"{re.sub(r'[^a-z0-9-]', '-', name)}.png"
        path.write_bytes(self.wait(self._screenshot))
        return path

    def _screenshot(self):
        size = "const page = document.documentElement; return [page.clientWidth, page.scrollHeight]"
        width, height = self.driver.execute_script(size)
        height = min(height, MAX_HEIGHT)
        # A window of the page's height: fixed parts are where a user sees them.
        metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
        self.driver.execute_script("scrollTo(0, 0)")
        shot = self.driver.execute_cdp_cmd("Page.captureScreenshot", {})
        self.driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
        return base64.b64decode(shot["data"])

    def chart(self):
        """Returns the options of the first chart of the page, or None while it is not drawn."""
        return self.driver.execute_script(
            "const found = document.querySelector('main .nicegui-echart');"
            "const element = found && getElement(found.id.slice(1));"
            "const chart = element && element.chart;"
            "const option = chart && chart.getOption();"
            "return option ? {series: option.series, yAxis: option.yAxis} : null"
        )

    def resize(self, size):
        self.driver.set_window_size(*size)

    def fits(self):
        """Waits until the page is not wider than the window; it is drawn again after a resize."""
        from selenium.common.exceptions import TimeoutException

        try:
            self.wait(lambda: self.overflow() <= 0)
        except TimeoutException:
            wider = self.overflow()
            raise AssertionError(f"the page is {wider} pixels wider than the window") from None

    def has(self, selector, count=None):
        """Waits until elements of a CSS selector are on the page: `count` of them, or any."""

        def found():
            number = len(self.driver.find_elements("css selector", selector))
            return number == count if count is not None else number > 0

        self.wait(found)

    def overflow(self):
        """Returns how many pixels the page is wider than the window."""
        return self.driver.execute_script(
            "return document.documentElement.scrollWidth - document.documentElement.clientWidth"
        )

    def errors(self):
        """Returns the messages of the browser's console since the last call."""
        return [
            entry["message"]
            for entry in self.driver.get_log("browser")
            if entry["level"] == "SEVERE"
        ]


def _page_was_replaced(error):
    """Whether a command failed because the browser left the page while the command ran.

    ChromeDriver has no error class of its own for all of these cases: a navigation between finding
    an element and reading it is reported as an error of the inspector, with the code -32000.
    """
    from selenium.common.exceptions import NoSuchElementException, StaleElementReferenceException

    if isinstance(error, (NoSuchElementException, StaleElementReferenceException)):
        return True
    message = error.msg or ""
    inspector = "unhandled inspector error" in message and '"code":-32000' in message
    return inspector or "aborted by navigation" in message


def _button_path(text):
    shown = _quoted(text)
    path = f"//button[normalize-space(.)={shown} or .//*[normalize-space(text())={shown}]"
    return f"{path} or @aria-label={shown}]"


def _quoted(text):
    """Returns a text as a literal of XPath, which has no escapes."""
    if '"' not in text:
        return f'"{text}"'
    parts = ", ', ".join(f'"{part}"' for part in text.split('"'))
    return f"concat({parts})"
