"""The overview in a real browser."""

from support.console.browser import NARROW


def test_the_overview_shows_brokers_figures_and_live_rates(browser):
    browser.open("/")
    browser.shows("No problems found")
    browser.shows("embedded")
    browser.shows("(controller)")
    browser.wait(lambda: browser.driver.find_elements("css selector", "main canvas"))


def test_the_overview_in_a_narrow_window_and_in_the_dark(browser):
    browser.resize(NARROW)
    browser.open("/")
    browser.click("Switch between dark and light")
    browser.wait(lambda: browser.driver.find_elements("css selector", "body.body--dark"))
    browser.shows("Brokers")
    browser.fits()
    browser.picture("overview-narrow-dark")
    browser.open("/topics")
    browser.has("body.body--dark")  # kept in a cookie
    browser.driver.delete_all_cookies()


def test_the_links_of_the_navigation_lead_to_their_pages(browser):
    """Passes when each link leads to the page with its heading."""
    browser.open("/")
    for name in ("Topics", "Cluster"):
        browser.press(f'//nav[@aria-label="Main"]//a[.//*[text()="{name}"]]')
        browser.wait(lambda name=name: browser.find("main h1").text == name)


def test_an_address_without_a_page_leads_on(browser):
    browser.open("/topics/orders/records/0/<b>x")
    browser.shows("There is no page /topics/orders/records/0/<b>x")
    assert browser.driver.title == "Page not found · Barnabas"
    browser.picture("page-not-found")
    assert ["404" in message for message in browser.errors()] == [True]
    browser.press('//nav[@aria-label="Main"]//a[.//*[text()="Topics"]]')
    browser.wait(lambda: browser.driver.current_url.endswith("/topics"))
    browser.ready()


def test_the_first_stop_of_the_keyboard_skips_the_navigation(browser):
    """Passes when Tab and Enter, then Tab, focus the first button of the contents."""
    browser.open("/topics")
    body = browser.driver.find_element("css selector", "body")
    body.send_keys("\ue004")  # Tab
    browser.wait(lambda: focused(browser) == "Skip to the contents")
    browser.driver.switch_to.active_element.send_keys("\ue007", "\ue004")  # Enter, Tab
    browser.wait(lambda: "Create topic" in focused(browser))


def focused(browser):
    return browser.driver.switch_to.active_element.text
