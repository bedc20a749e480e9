"""Keeps the scripts and styles of NiceGUI in memory once they were sent.

A first page needs about 25 files. NiceGUI reads each one from disk, in pieces and by a thread,
behind two of Starlette's middlewares, which takes longer than to send it. Their addresses contain
the version, so a file never changes while the process runs. Outside loopback the text files are
compressed, each once.
"""

import asyncio
import gzip
from dataclasses import dataclass

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

PREFIX = "/_nicegui/"
MAX_BYTES = 8 * 1024 * 1024
_MIN_COMPRESSED = 1000
_GZIP_LEVEL = 6
RawHeaders = list[tuple[bytes, bytes]]


@dataclass(frozen=True, slots=True)
class Asset:
    headers: RawHeaders
    body: bytes


class AssetCache:
    """ASGI middleware; responses beyond `MAX_BYTES` in total are passed on and not kept."""

    def __init__(self, app: ASGIApp, compress: bool) -> None:
        self._app = app
        self._compress = compress
        self._kept: dict[str, Asset] = {}
        self._size = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if not self._may_keep(scope):
            await self._app(scope, receive, send)
            return
        asset = self._kept.get(scope["path"])
        if asset is None:
            await self._app(scope, receive, self._keeping(scope["path"], send))
            return
        # The headers are copied: middlewares outside of this one add theirs to the list.
        start = {"type": "http.response.start", "status": 200, "headers": list(asset.headers)}
        await send(start)
        await send({"type": "http.response.body", "body": asset.body})

    def _may_keep(self, scope: Scope) -> bool:
        if scope["type"] != "http" or scope["method"] != "GET":
            return False
        path: str = scope["path"]
        if not path.startswith(PREFIX) or "/dynamic_resources/" in path:
            return False
        headers = Headers(scope=scope)
        accepted = not self._compress or "gzip" in headers.get("accept-encoding", "")
        return accepted and "range" not in headers and not scope.get("query_string")

    def _keeping(self, path: str, send: Send) -> Send:
        """Returns a send function that passes a response on and keeps it when it is complete."""
        start: Message | None = None
        body = bytearray()

        async def sending(message: Message) -> None:
            nonlocal start
            if message["type"] == "http.response.start" and message["status"] == 200:
                start = {**message, "headers": list(message["headers"])}
            elif start is not None and message["type"] == "http.response.body":
                body.extend(message.get("body", b""))
                if not message.get("more_body"):
                    await self._keep(path, start["headers"], bytes(body))
            await send(message)

        return sending

    async def _keep(self, path: str, headers: RawHeaders, body: bytes) -> None:
        kind = Headers(raw=headers).get("content-type", "")
        if self._compress and kind.startswith("text/") and len(body) >= _MIN_COMPRESSED:
            body = await asyncio.to_thread(gzip.compress, body, _GZIP_LEVEL)
            changed = MutableHeaders(raw=headers)
            changed["content-encoding"] = "gzip"
            changed["content-length"] = str(len(body))
            changed.add_vary_header("Accept-Encoding")
            headers = changed.raw
        if path not in self._kept and self._size + len(body) <= MAX_BYTES:
            self._kept[path] = Asset(headers, body)
            self._size += len(body)
