"""The page of the JSON API, made from the OpenAPI document; nothing is loaded from other hosts."""

from typing import Any

from nicegui import ui

from barnabas.console.pages.frame import heading
from barnabas.console.pages.tables import plain_table
from barnabas.console.pages.view import View

_OPENAPI = "http://console/openapi.json"
_METHODS = ("get", "post", "put", "patch", "delete")


async def api_page(view: View) -> None:
    document = await view.api.get(_OPENAPI)
    ui.label(
        "The pages use only this API. Programs can use it too: requests and responses are JSON; "
        "an error has code, message and cause."
    ).classes("console-wrap")
    ui.link("/openapi.json", "/openapi.json", new_tab=True).classes("console-link")
    for tag in _tags(document):
        heading(tag, level=2)
        plain_table(
            _rows(document, tag),
            (("call", "Request"), ("summary", "What it does"), ("parameters", "Parameters")),
            tag,
            title=False,
        )


def _tags(document: dict[str, Any]) -> list[str]:
    found: dict[str, None] = {}
    for methods in document["paths"].values():
        for operation in methods.values():
            found.update(dict.fromkeys(operation.get("tags", ())))
    return list(found)


def _rows(document: dict[str, Any], tag: str) -> list[dict[str, Any]]:
    rows = []
    for path, methods in document["paths"].items():
        for method in _METHODS:
            operation = methods.get(method)
            if operation is None or tag not in operation.get("tags", ()):
                continue
            names = [item["name"] for item in operation.get("parameters", ())]
            if "requestBody" in operation:
                content = operation["requestBody"]["content"]["application/json"]["schema"]
                names.append("body: " + content.get("$ref", "object").rpartition("/")[2])
            rows.append(
                {
                    "call": f"{method.upper()} {path}",
                    "summary": operation.get("description") or operation.get("summary", ""),
                    "parameters": ", ".join(names),
                }
            )
    return rows
