"""A page in a real browser, as the tests of the console use it."""

import base64
import re
from pathlib import Path

PICTURES = Path(__file__).parents[3] / "build" / "console"
WIDE = (1280, 900)
NARROW = (400, 800)
MAX_HEIGHT = 2400


class Browser:
    """Actions of the tests on a page. Every find waits for the element."""

    def __init__(self, driver, base_url):
        self.driver = driver
        self.base_url = base_url

    def wait(self, condition, seconds=15):
        from selenium.common.exceptions import StaleElementReferenceException
        from selenium.webdriver.support.ui import WebDriverWait

        waiting = WebDriverWait(
            self.driver,
            seconds,
            poll_frequency=0.05,
            ignored_exceptions=(StaleElementReferenceException,),
        )
        return waiting.until(lambda _: condition())

    def open(self, path):
        """Opens a page and waits until its contents are there."""
        self.driver.get(self.base_url + path)
        self.wait(lambda: self.driver.find_elements("css selector", "main h1"))
        self.wait(lambda: not self.driver.find_elements("css selector", "main > .q-spinner"))

    def find(self, selector):
        self.wait(lambda: self.driver.find_elements("css selector", selector), 10)
        return self.driver.find_element("css selector", selector)

    def button(self, text):
        """Returns the visible button with this text or this label for screen readers."""
        path = f'//button[normalize-space(.)="{text}" or .//*[normalize-space(text())="{text}"]'
        path += f' or @aria-label="{text}"]'

        def visible():
            found = self.driver.find_elements("xpath", path)
            return next((item for item in reversed(found) if item.is_displayed()), None)

        return self.wait(visible, 10)

    def click(self, text):
        self.press(self.button(text))

    def tab(self, text):
        """Selects a tab."""
        path = f'//*[@role="tab" and .//*[normalize-space(text())="{text}"]]'
        self.wait(lambda: self.driver.find_elements("xpath", path), 10)[0].click()

    def click_run(self, title):
        """Presses the button that runs the action of the open dialog."""
        path = (
            f'//button[contains(@class, "run-action") and .//*[normalize-space(text())="{title}"]]'
        )

        def visible():
            found = self.driver.find_elements("xpath", path)
            return next((item for item in found if item.is_displayed() and item.is_enabled()), None)

        self.press(self.wait(visible, 10))

    def press(self, element):
        """Clicks an element, after a notification that covers it has disappeared."""
        from selenium.common.exceptions import (
            ElementClickInterceptedException,
            ElementNotInteractableException,
        )

        def clicked():
            try:
                element.click()
            except (ElementClickInterceptedException, ElementNotInteractableException):
                return False
            return True

        self.wait(clicked)

    def fill(self, label, text):
        """Types into the visible field with this label, after clearing it."""
        path = f'//label[.//*[normalize-space(text())="{label}"]]//*[self::input or self::textarea]'
        path += f' | //*[(self::input or self::textarea) and @aria-label="{label}"]'

        def visible():
            found = self.driver.find_elements("xpath", path)
            return next((item for item in reversed(found) if item.is_displayed()), None)

        field = self.wait(visible, 10)
        field.send_keys("\ue009a\ue000", "\ue003", text)  # Ctrl-A, release, Backspace
        return field

    @property
    def text(self):
        return self.driver.find_element("css selector", "body").text

    def shows(self, text, seconds=15):
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
        width, height = self.driver.execute_script(
            "const page = document.documentElement; return [page.clientWidth, page.scrollHeight]"
        )
        clip = {"x": 0, "y": 0, "width": width, "height": min(height, MAX_HEIGHT), "scale": 1}
        shot = self.driver.execute_cdp_cmd(
            "Page.captureScreenshot", {"captureBeyondViewport": True, "clip": clip}
        )
        path.write_bytes(base64.b64decode(shot["data"]))
        return path

    def resize(self, size):
        self.driver.set_window_size(*size)

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
