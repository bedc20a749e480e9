"""Files of the libraries are kept in memory, and compressed where it is worth it."""

import gzip

import httpx
import pytest
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from barnabas.console import app
from barnabas.console.app import AssetCache

TEXT = "const a = 1;\n" * 500


class Files:
    """An application that counts its requests."""

    def __init__(self, **options):
        self.requests = []
        routes = [
            Route("/_nicegui/1/missing.js", self.missing),
            Route("/_nicegui/1/dynamic_resources/x", self.text),
            Route("/_nicegui/1/font.woff2", self.font),
            Route("/{path:path}", self.text),
        ]
        self.app = AssetCache(Starlette(routes=routes), **options)

    async def text(self, request):
        self.requests.append(request.url.path)
        return PlainTextResponse(TEXT, headers={"cache-control": "immutable"})

    async def font(self, request):
        self.requests.append(request.url.path)
        return Response(b"\0" * 5000, media_type="font/woff2")

    async def missing(self, request):
        self.requests.append(request.url.path)
        return PlainTextResponse("no", 404)

    async def get(self, path, **headers):
        transport = httpx.ASGITransport(self.app)
        async with httpx.AsyncClient(transport=transport, base_url="http://t") as client:
            return await client.get(path, headers=headers)


async def test_a_file_is_read_once():
    files = Files(compress=False)
    first, second = [await files.get("/_nicegui/1/a.js") for _ in range(2)]
    assert files.requests == ["/_nicegui/1/a.js"]
    assert first.text == second.text == TEXT
    assert first.headers == second.headers
    assert "content-encoding" not in second.headers


@pytest.mark.parametrize(
    "path", ["/topics", "/_nicegui/1/missing.js", "/_nicegui/1/dynamic_resources/x"]
)
async def test_other_responses_are_not_kept(path):
    files = Files(compress=False)
    for _ in range(2):
        await files.get(path)
    assert files.requests == [path, path]


async def test_a_part_of_a_file_is_not_taken_for_the_file():
    files = Files(compress=False)
    await files.get("/_nicegui/1/a.js", range="bytes=0-1")
    await files.get("/_nicegui/1/a.js")
    assert len(files.requests) == 2


async def test_a_file_that_a_closed_connection_cut_short_is_not_kept():
    requests = []

    async def cut_short(scope, receive, send):
        requests.append(scope["path"])
        body = b"abc" if len(requests) == 1 else b"abcdef"
        headers = [(b"content-length", b"6")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": body})

    transport = httpx.ASGITransport(AssetCache(cut_short, compress=False))
    async with httpx.AsyncClient(transport=transport, base_url="http://t") as client:
        answers = [await client.get("/_nicegui/1/a.js") for _ in range(3)]
    assert [answer.content for answer in answers] == [b"abc", b"abcdef", b"abcdef"]
    assert len(requests) == 2


async def test_text_is_compressed_once_for_clients_that_accept_it():
    files = Files(compress=True)
    await files.get("/_nicegui/1/a.js")
    second = await files.get("/_nicegui/1/a.js")
    assert second.headers["content-encoding"] == "gzip"
    assert second.headers["content-length"] == str(len(gzip.compress(TEXT.encode(), 6)))
    assert second.headers["vary"] == "Accept-Encoding"
    assert second.text == TEXT
    plain = await files.get("/_nicegui/1/a.js", **{"accept-encoding": "identity"})
    assert "content-encoding" not in plain.headers
    for _ in range(2):
        font = await files.get("/_nicegui/1/font.woff2")
    assert "content-encoding" not in font.headers


async def test_the_memory_is_limited(monkeypatch):
    monkeypatch.setattr(app, "MAX_BYTES", len(TEXT))
    files = Files(compress=False)
    for name in ("a", "b", "a", "b"):
        await files.get(f"/_nicegui/1/{name}.js")
    assert files.requests == ["/_nicegui/1/a.js", "/_nicegui/1/b.js", "/_nicegui/1/b.js"]
