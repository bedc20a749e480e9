"""HTTP endpoints of a broker: addresses, errors, a loop that does not respond."""

import asyncio
import urllib.error
import urllib.request
from http import HTTPStatus

import pytest

from barnabas.broker import http_server
from barnabas.broker.http_server import HttpReply, HttpServer, parse_http_listener
from barnabas.model.errors import ConfigError


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("9404", ("127.0.0.1", 9404)),
        ("0.0.0.0:9404", ("0.0.0.0", 9404)),
        ("http://localhost:0/", ("localhost", 0)),
        ("[::1]:9404", ("::1", 9404)),
        (":9404", ("127.0.0.1", 9404)),
    ],
)
def test_an_address_without_a_host_is_on_loopback(text, expected):
    assert parse_http_listener(text) == expected


@pytest.mark.parametrize("text", ["", "localhost", "https://h:1", "h:x", "h:99999", "h:1/metrics"])
def test_invalid_addresses_are_named(text):
    with pytest.raises(ConfigError, match=r"http\.listener"):
        parse_http_listener(text)


async def get(url):
    def fetch():
        try:
            with urllib.request.urlopen(url, timeout=5) as reply:
                return reply.status, reply.read()
        except urllib.error.HTTPError as error:
            return error.code, error.read()

    return await asyncio.get_running_loop().run_in_executor(None, fetch)


@pytest.fixture
async def serve():
    started = []

    def start(endpoints):
        server = HttpServer("127.0.0.1", 0, endpoints)
        server.start()
        started.append(server)
        return server.url

    yield start
    for server in started:
        await server.stop()


async def test_an_endpoint_runs_on_the_loop(serve):
    loop = asyncio.get_running_loop()

    async def endpoint(accept):
        assert asyncio.get_running_loop() is loop
        return HttpReply(b"hello")

    url = serve({"/hello": endpoint})
    assert await get(url + "/hello?x=1") == (200, b"hello")
    status, text = await get(url + "/other")
    assert status == HTTPStatus.NOT_FOUND
    assert b"/hello" in text


async def test_an_error_of_an_endpoint_is_500_without_details(serve):
    async def endpoint(accept):
        raise LookupError("secret")

    status, text = await get(serve({"/x": endpoint}) + "/x")
    assert status == HTTPStatus.INTERNAL_SERVER_ERROR
    assert b"secret" not in text


async def test_an_endpoint_that_does_not_finish_is_503(serve, monkeypatch):
    monkeypatch.setattr(http_server, "_REPLY_TIMEOUT_S", 0.05)

    async def endpoint(accept):
        await asyncio.Event().wait()

    status, text = await get(serve({"/x": endpoint}) + "/x")
    assert status == HTTPStatus.SERVICE_UNAVAILABLE
    assert b"did not respond" in text
