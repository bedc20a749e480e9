"""The API of a console on the shared broker."""

import pytest
from support.console.requests import api_of, call

from barnabas import Admin


@pytest.hookimpl(tryfirst=True)
def pytest_itemcollected(item):
    item.add_marker(pytest.mark.integration)


@pytest.fixture(scope="session")
def admin(broker):
    with Admin({"bootstrap.servers": broker.bootstrap_servers}) as client:
        yield client


@pytest.fixture
async def api(broker):
    """`await api("GET", "/topics")` returns status and body."""
    application = api_of(broker.bootstrap_servers)

    async def request(method, path, body=None):
        status, content, _ = await call(application, method, f"/api/v1{path}", body)
        return status, content

    request.application = application
    yield request
    await application.state.console.close()
