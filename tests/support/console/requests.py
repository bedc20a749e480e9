"""Requests to the console's API inside the process, as a network server would pass them on."""

import json

import httpx

from barnabas.console.app import create_api
from barnabas.console.composition import Console
from barnabas.console.settings import ConsoleSettings


def api_of(bootstrap="localhost:1", **settings):
    """Returns the API of a console with these settings."""
    client = {"bootstrap.servers": bootstrap}
    return create_api(Console(ConsoleSettings(client=client, **settings)))


async def call(api, method, path, body=None, headers=None, address="127.0.0.1"):
    """Sends a request and returns status, decoded body and headers."""
    transport = httpx.ASGITransport(api, client=(address, 1), raise_app_exceptions=False)
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
        response = await client.request(method, path, json=body, headers=headers)
    kind = response.headers.get("content-type", "")
    is_json = bool(response.content) and kind.startswith("application/json")
    content = json.loads(response.content) if is_json else None
    return response.status_code, content, dict(response.headers)
