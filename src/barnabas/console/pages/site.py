"""Adds the pages to the application: one frame, one function per page.

A page is a coroutine function that takes a `View` and creates elements; `Site.page` registers it.
The frame is sent at once. The page function runs when the browser has connected, so a slow cluster
delays the contents and not the page. NiceGUI keeps its routes in the process, so a process has one
site.
"""

from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

from fastapi import FastAPI, Request
from nicegui import ui

from barnabas.console.actions.action import ConsoleAddress
from barnabas.console.api.slashes import restored
from barnabas.console.api_client import ApiCallError, ApiClient
from barnabas.console.composition import Console
from barnabas.console.pages import (
    api_reference,
    cluster,
    dead_letters,
    groups,
    overview,
    pipelines,
    record_page,
    records,
    sql,
    topic,
    topics,
)
from barnabas.console.pages.frame import Breadcrumb, draw_frame
from barnabas.console.pages.login import add_login
from barnabas.console.pages.view import View, show_error
from barnabas.console.security.guard import PRINCIPAL, cookie_of
from barnabas.console.security.principals import Principal

BuildPage = Callable[[View], Awaitable[None]]
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

        ui.page(path)(handle)

    async def _show(
        self, request: Request, title: str, build: BuildPage, parents: Sequence[Breadcrumb]
    ) -> None:
        api = ApiClient(self._app, self._identify(request))
        params = {key: restored(str(value)) for key, value in request.path_params.items()}
        view = View(
            api=api,
            params=params,
            query=dict(request.query_params),
            bootstrap=self._console.link.bootstrap,
            read_only=self._console.settings.read_only,
            title=title.format_map(params),
            console=self._address(request),
            zookeeper=self._console.settings.zookeeper,
            may_log_out=self._console.sessions.find(cookie_of(request.headers)) is not None,
        )
        ui.page_title(f"{view.title} · Barnabas")
        content = draw_frame(view, parents, request.cookies.get("console_theme"))
        with content:
            waiting = ui.spinner(size="lg").props('aria-label="loading"')
        await ui.context.client.connected(timeout=30)
        with content:
            try:
                await build(view)
            except ApiCallError as error:
                show_error(error)
        waiting.delete()
        content.props("data-ready")

    def _identify(self, request: Request) -> Callable[[], Principal | None]:
        """Returns the user of a page; a page of a session loses its user when the session ends."""
        principal = request.scope.get(PRINCIPAL)
        sessions, token = self._console.sessions, cookie_of(request.headers)
        if sessions.find(token) is None:
            return lambda: principal

        def user_of_session() -> Principal | None:
            session = sessions.find(token)
            return None if session is None else session.principal

        return user_of_session

    def _address(self, request: Request) -> ConsoleAddress:
        principal = request.scope.get(PRINCIPAL)
        name = None
        if self._console.settings.login == "scram" and isinstance(principal, Principal):
            name = principal.name
        return ConsoleAddress(str(request.base_url).rstrip("/"), name)


def add_pages(app: FastAPI, console: Console) -> None:
    """Adds all pages and the assets of the libraries to the application."""
    site = Site(app, console)
    site.page("/", "Overview", overview.overview_page)
    site.page("/topics", "Topics", topics.list_page)
    site.page("/topics/{name}", "{name}", topic.topic_page, [Breadcrumb("Topics", "/topics")])
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
    site.page("/sql", "SQL", sql.sql_page)
    site.page("/cluster", "Cluster", cluster.cluster_page)
    site.page("/api-reference", "API", api_reference.api_page)
    add_login(app, console)
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
