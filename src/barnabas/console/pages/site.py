"""Adds the pages to the application: one frame, one function per page.

A page is a coroutine function that takes a `View` and creates elements; `Site.page` registers it.
The contents are sent with the frame if they are ready within `_WAIT_S`. Otherwise the frame is sent
alone and the contents follow, so a slow cluster does not delay the page. NiceGUI keeps its routes
in the process, so a process has one site.

The page of the JSON API is made here from the OpenAPI document of the application; nothing is
loaded from other hosts.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

from fastapi import FastAPI, Request, Response
from nicegui import Client, background_tasks, ui
from nicegui import app as nicegui_app

from barnabas.console.actions.action import ConsoleAddress
from barnabas.console.api.routing import restored
from barnabas.console.api_client import ApiCallError, ApiClient, JsonObject
from barnabas.console.composition import Console
from barnabas.console.pages import (
    cluster,
    dead_letters,
    groups,
    overview,
    pipelines,
    record_page,
    records,
    topics,
)
from barnabas.console.pages.frame import Breadcrumb, draw_frame, heading, watch_connection
from barnabas.console.pages.login import add_login
from barnabas.console.pages.tables import plain_table
from barnabas.console.pages.view import View, show_error
from barnabas.console.security.guard import PRINCIPAL, cookie_of
from barnabas.console.security.identity import ConsoleUser

BuildPage = Callable[[View], Awaitable[None]]
_WAIT_S = 0.15
_RESPONSE_S = 60.0
"""NiceGUI responds with an error after this time; its 3 s are too short on a busy machine."""
_END_S = 20.0
_FAVICON = Path(__file__).with_name("favicon.svg")


class Site:
    """Registers pages of one application."""

    def __init__(self, app: FastAPI, console: Console) -> None:
        self._app = app
        self._console = console

    def page(
        self, path: str, title: str, build: BuildPage, parents: Sequence[Breadcrumb] = ()
    ) -> None:
        """Registers a page. Path parameters are in `View.params`; `title` may name them: {name}."""

        async def handle(request: Request) -> None:
            await self._show(request, title, build, parents)

        ui.page(path, response_timeout=_RESPONSE_S)(handle)

    async def _show(
        self, request: Request, title: str, build: BuildPage, parents: Sequence[Breadcrumb]
    ) -> None:
        view = self._view(request, title)
        ui.page_title(f"{view.title} · Barnabas")
        frame = draw_frame(view, parents, request.cookies.get("console_theme"))
        client = ui.context.client

        async def draw() -> None:
            frame.area.clear()
            with frame.area:
                waiting = ui.spinner(size="lg").props('aria-label="loading"')
                try:
                    await build(view)
                except ApiCallError as error:
                    show_error(view, error, draw)
            waiting.delete()
            frame.main.props("data-ready")

        drawing = background_tasks.create(draw(), name=f"page {request.url.path}")
        client.on_delete(drawing.cancel)
        await asyncio.wait({drawing}, timeout=_WAIT_S)
        await client.connected(timeout=30)
        watch_connection(view, frame.banner)

    async def not_found(self, request: Request, _error: Exception) -> Response:
        """Responds to an address without a page; the navigation leads on."""
        with Client(ui.page(""), request=request) as client:
            view = self._view(request, "Page not found")
            ui.page_title(f"{view.title} · Barnabas")
            frame = draw_frame(view, (), request.cookies.get("console_theme"))
            with frame.area:
                ui.label(f"There is no page {request.url.path}").classes("console-wrap")
            frame.main.props("data-ready")
        return client.build_response(request, 404)

    def _view(self, request: Request, title: str) -> View:
        params = {key: restored(str(value)) for key, value in request.path_params.items()}
        return View(
            api=ApiClient(self._app, self._identify(request)),
            params=params,
            query=dict(request.query_params),
            bootstrap=self._console.link.bootstrap,
            read_only=self._console.settings.read_only,
            title=title.format_map(params),
            console=self._address(request),
            zookeeper=self._console.settings.zookeeper,
            may_log_out=self._console.sessions.find(cookie_of(request.headers)) is not None,
        )

    def _identify(self, request: Request) -> Callable[[], ConsoleUser | None]:
        """Returns the user of a page; a page of a session loses its user when the session ends."""
        principal = request.scope.get(PRINCIPAL)
        sessions, token = self._console.sessions, cookie_of(request.headers)
        if sessions.find(token) is None:
            return lambda: principal

        def user_of_session() -> ConsoleUser | None:
            session = sessions.find(token)
            return None if session is None else session.principal

        return user_of_session

    def _address(self, request: Request) -> ConsoleAddress:
        principal = request.scope.get(PRINCIPAL)
        name = None
        if self._console.settings.login == "scram" and isinstance(principal, ConsoleUser):
            name = principal.name
        return ConsoleAddress(str(request.base_url).rstrip("/"), name)


def add_pages(app: FastAPI, console: Console) -> None:
    """Adds all pages and the assets of the libraries to the application."""
    site = Site(app, console)
    site.page("/", "Overview", overview.overview_page)
    site.page("/topics", "Topics", topics.list_page)
    site.page("/topics/{name}", "{name}", topics.topic_page, [Breadcrumb("Topics", "/topics")])
    site.page(
        "/topics/{topic}/records",
        "Records of {topic}",
        records.list_page,
        [Breadcrumb("Topics", "/topics")],
    )
    site.page(
        "/topics/{topic}/records/{partition:int}/{offset:int}",
        "{topic}, partition {partition}, offset {offset}",
        record_page.record_page,
        [Breadcrumb("Topics", "/topics")],
    )
    site.page("/dead-letters", "Dead letters", dead_letters.list_page)
    site.page("/groups", "Groups", groups.list_page)
    site.page("/groups/{name}", "{name}", groups.group_page, [Breadcrumb("Groups", "/groups")])
    site.page("/pipelines", "Pipelines", pipelines.list_page)
    site.page(
        "/pipelines/{name}",
        "{name}",
        pipelines.pipeline_page,
        [Breadcrumb("Pipelines", "/pipelines")],
    )
    site.page("/sql", "SQL", pipelines.sql_page)
    site.page("/cluster", "Cluster", cluster.cluster_page)
    site.page("/api-reference", "API", api_page)
    add_login(app, console)
    nicegui_app.add_exception_handler(404, site.not_found)
    nicegui_app.on_shutdown(end_tasks)
    ui.run_with(
        app,
        title="Barnabas",
        favicon=_FAVICON,
        dark=None,
        language="en-US",
        tailwind=False,
        gzip_middleware_factory=None,  # the nonce is added to the uncompressed page
        show_welcome_message=False,
        binding_refresh_interval=None,
        reconnect_timeout=10.0,
    )


async def end_tasks() -> None:
    """Cancels the tasks of open pages and waits for their end, when the console stops.

    NiceGUI does the same afterwards, but waits for two seconds only and then logs an error, which
    happens on a busy machine.
    """
    tasks = {task for task in background_tasks.running_tasks if not task.done()}
    for task in tasks:
        task.cancel()
    if tasks:
        await asyncio.wait(tasks, timeout=_END_S)


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


def _tags(document: JsonObject) -> list[str]:
    found: dict[str, None] = {}
    for methods in document["paths"].values():
        for operation in methods.values():
            found.update(dict.fromkeys(operation.get("tags", ())))
    return list(found)


def _rows(document: JsonObject, tag: str) -> list[JsonObject]:
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
