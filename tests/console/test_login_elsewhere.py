"""Login by an OpenID Connect provider and by the header of a proxy, in a real browser."""

import pytest
from support.console.browser import new_browser
from support.console.oidc_provider import CLIENT_ID, OidcProvider
from support.console.process import ConsoleProcess
from support.network.header_proxy import HeaderProxy


def page_of(chromium, url):
    page = new_browser(chromium, url)
    return page


@pytest.fixture
def without_cookies(chromium):
    yield
    chromium.delete_all_cookies()


@pytest.fixture
def provider():
    with OidcProvider().served() as running:
        yield running


@pytest.fixture
def oidc_page(chromium, broker, provider, without_cookies):
    options = ("--login", "oidc", "--oidc-issuer", provider.url, "--oidc-client-id", CLIENT_ID)
    running = ConsoleProcess(broker.bootstrap_servers, *options, "--role", "ada=admin")
    yield page_of(chromium, running.url)
    running.stop()
    assert running.errors == ""


def test_users_of_a_provider_log_in_with_their_roles(oidc_page, provider):
    page = oidc_page
    page.driver.get(page.base_url + "/topics?search=o")
    page.wait(lambda: page.driver.current_url.startswith(provider.url))
    page.link("Log in as ada")
    page.ready()
    assert page.driver.current_url == f"{page.base_url}/topics?search=o"
    page.shows("ada (admin)")
    page.shows("Create topic")
    page.picture("login-oidc")
    page.click("Log out")
    page.wait(lambda: "Log in as bob" in page.text or "logged out" in page.text)
    page.driver.get(page.base_url + "/topics")
    page.wait(lambda: page.driver.current_url.startswith(provider.url))
    page.link("Log in as bob")
    page.ready()
    page.shows("bob (read)")
    assert "Create topic" not in page.text


def test_a_login_that_the_provider_rejects_is_explained(oidc_page, provider):
    page = oidc_page
    provider.refuse = True
    page.driver.get(page.base_url + "/topics")
    page.wait(lambda: page.driver.current_url.startswith(provider.url))
    page.link("Log in as ada")
    page.shows("the provider rejected the login: the code has expired")
    page.picture("login-oidc-refused")
    page.errors()  # the browser reports the status 403


@pytest.fixture
def proxy(chromium, broker, without_cookies):
    running = ConsoleProcess(broker.bootstrap_servers, "--login", "proxy", "--role", "ada=operate")
    with HeaderProxy(running.url).served() as serving:
        yield serving, running
        chromium.get("about:blank")  # closes the websocket before the proxy ends
    running.stop()
    assert running.errors == ""


def test_a_proxy_names_the_user(chromium, proxy, admin, topic_name):
    serving, _ = proxy
    serving.user = "ada"
    page = page_of(chromium, serving.url)
    page.open("/topics")
    page.shows("ada (operate)")
    page.click("Create topic")
    page.fill("Name", topic_name)
    page.run_action()
    page.shows("Topic created")
    assert topic_name in [item.name for item in admin.list_topics()]
    page.picture("login-proxy")
    serving.user = "bob"
    page.open("/topics")
    page.shows("bob (read)")
    assert "Create topic" not in page.text
    assert page.errors() == []


def test_without_the_header_of_the_proxy_there_is_no_page(chromium, proxy):
    page = page_of(chromium, proxy[1].url)
    page.driver.get(page.base_url + "/topics")
    page.shows("open the console through the proxy")
    page.shows("X-Forwarded-User")
    page.picture("login-proxy-missing")
    assert "Create topic" not in page.text
    page.errors()
