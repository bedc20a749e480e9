"""Login with a SCRAM user, roles, logout, and a read-only console, in a real browser."""

import pytest
from support.console.browser import new_browser
from support.console.process import ConsoleProcess

from barnabas import Admin
from barnabas.admin import ScramMechanism, ScramPassword
from barnabas.testing import Broker

SETTINGS = {
    "listeners": "PLAINTEXT://127.0.0.1:0,SASL_PLAINTEXT://127.0.0.1:0",
    "sasl.enabled.mechanisms": "SCRAM-SHA-256",
}
PASSWORD = "ada-secret"


@pytest.fixture(scope="module")
def secured(chromium, tmp_path_factory):
    """A console that takes the SCRAM users of its broker, and the file of its audit log."""
    audit = tmp_path_factory.mktemp("audit") / "audit.log"
    with Broker(SETTINGS) as broker:
        with Admin({"bootstrap.servers": broker.bootstrap_servers}) as admin:
            users = [
                ScramPassword(name, PASSWORD, ScramMechanism.SCRAM_SHA_256, 4096)
                for name in ("ada", "bob")
            ]
            admin.alter_scram_users(users).check()
        options = ("-X", "security.protocol=SASL_PLAINTEXT", "-X", "sasl.mechanism=SCRAM-SHA-256")
        options += ("-X", "sasl.username=ada", "-X", f"sasl.password={PASSWORD}")
        port = broker.ports["SASL_PLAINTEXT"]
        running = ConsoleProcess(
            f"127.0.0.1:{port}",
            *options,
            *("--login", "scram", "--role", "ada=admin", "--audit-log", str(audit)),
        )
        yield running, audit
        running.stop()


@pytest.fixture
def page(chromium, secured):
    browser = new_browser(chromium, secured[0].url)
    browser.resize((1280, 900))
    chromium.delete_all_cookies()
    yield browser
    chromium.delete_all_cookies()
    browser.errors()


def log_in(page, user, password):
    page.find("#user").send_keys(user)
    page.find("#password").send_keys(password)
    page.press("//button[text()='Log in']")


def test_a_user_logs_in_changes_a_topic_and_logs_out(page, secured):
    page.driver.get(page.base_url + "/topics?from=link")
    log_in(page, "ada", "wrong")
    page.shows("the user name or the password is wrong")
    page.picture("login")
    page.find("#password").clear()
    page.find("#user").clear()
    log_in(page, "ada", PASSWORD)
    page.ready()
    assert page.driver.current_url.endswith("/topics?from=link")
    page.shows("ada (admin)")
    page.click("Create topic")
    page.fill("Name", "audited")
    page.run_action()
    page.shows("Topic created")
    lines = secured[1].read_text()
    assert '"user": "ada"' in lines
    assert '"path": "/api/v1/topics"' in lines
    assert PASSWORD not in lines
    page.click("Log out")
    page.find("#user")
    page.driver.back()
    page.find("#user")


def test_a_reader_is_offered_no_changes(page):
    page.driver.get(page.base_url + "/topics")
    log_in(page, "bob", PASSWORD)
    page.ready()
    page.shows("bob (read)")
    assert "Create topic" not in page.text
    page.open("/cluster?tab=Quotas")
    page.shows("No quotas are set")
    assert "Set a quota" not in page.text


def test_an_open_page_loses_its_user_with_the_session(page):
    """Passes when the page of the first tab shows the login form after the second logged out."""
    page.driver.get(page.base_url + "/topics")
    log_in(page, "bob", PASSWORD)
    page.ready()
    first = page.driver.current_window_handle
    page.driver.switch_to.new_window("tab")
    page.open("/cluster")
    page.click("Log out")
    page.find("#user")
    page.driver.close()
    page.driver.switch_to.window(first)
    page.click("Refresh")
    page.find("#user")


def test_a_read_only_console_offers_no_changes(chromium, broker):
    running = ConsoleProcess(broker.bootstrap_servers, "--read-only")
    page = new_browser(chromium, running.url)
    try:
        page.open("/topics")
        page.shows("read-only")
        assert "Create topic" not in page.text
        page.open("/dead-letters")
        page.open("/cluster?tab=Reassignments")
        page.shows("No reassignment is in progress")
        assert "Move a partition" not in page.text
    finally:
        running.stop()
