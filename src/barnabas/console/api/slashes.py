"""Slashes inside a path parameter: group ids may have them, `orders/events` for example.

A server decodes `%2F` before routes see the path, so a group id would look like several segments.
The middleware puts a character of the private use area in its place, and `restored` takes it back.
"""

import re
from typing import Annotated
from urllib.parse import quote, unquote

from fastapi import Path
from pydantic import AfterValidator
from starlette.types import ASGIApp, Receive, Scope, Send

_SLASH = "\ue000"
_ENCODED = re.compile("%2f", re.IGNORECASE)


class EncodedSlashes:
    """ASGI middleware: an encoded slash does not end a segment of the path."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        raw = scope.get("raw_path") if scope["type"] == "http" else None
        if raw is not None and b"%2f" in raw.lower():
            scope = {**scope, "path": unquote(_ENCODED.sub(quote(_SLASH), raw.decode("latin-1")))}
        await self._app(scope, receive, send)


def restored(text: str) -> str:
    """Returns a path parameter with its slashes."""
    return text.replace(_SLASH, "/")


GroupName = Annotated[str, Path(min_length=1, max_length=1000), AfterValidator(restored)]
