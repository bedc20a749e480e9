"""The argument of a page function: the API, path parameters, and messages to the user."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

from nicegui import background_tasks, ui

from barnabas.console.actions.action import Action, ConsoleAddress
from barnabas.console.api_client import ApiCallError, ApiClient
from barnabas.console.security.identity import Role

_RECONNECT_S = 2.0
ReadAgain = Callable[[], Awaitable[None]]


@dataclass(slots=True)
class View:
    """One open page of one user."""

    api: ApiClient
    params: dict[str, str]
    query: dict[str, str]
    bootstrap: str
    read_only: bool
    title: str
    console: ConsoleAddress
    zookeeper: str | None = None
    may_log_out: bool = False
    _recoveries: list[tuple[ui.element, ReadAgain]] = field(default_factory=list)

    def may(self, role: Role) -> bool:
        """Returns whether to offer actions that need this role."""
        principal = self.api.principal
        return not self.read_only and principal is not None and principal.may(role)

    async def run(self, action: Action, done: str) -> Any:
        """Runs an action, shows the result to the user, and returns the response body.

        Returns False if the action failed; the user has seen the error.
        """
        try:
            body = await self.api.request(
                action.method, action.path, body=action.body, query=action.query
            )
        except ApiCallError as error:
            notify_error(error)
            return False
        ui.notify(done, type="positive", position="top-right")
        return body if body is not None else True

    def on_recovery(self, element: ui.element, read_again: ReadAgain) -> None:
        """Calls `read_again` when the cluster responds again, while the element is on the page."""
        self._recoveries.append((element, read_again))

    async def recover(self) -> None:
        """Reads again what the page showed before the cluster was unreachable."""
        self._recoveries = [item for item in self._recoveries if not item[0].is_deleted]
        for element, read_again in tuple(self._recoveries):
            if not element.is_deleted:
                await read_again()

    def live(
        self, path: str, show: Callable[[Any], Awaitable[None] | None], **query: object
    ) -> None:
        """Calls `show` with each event of a stream until the page is closed.

        The stream is opened again after an error.
        """
        client = ui.context.client
        slot = ui.context.slot

        async def follow() -> None:
            while True:
                try:
                    async for value in self.api.events(path, query=query):
                        with slot:
                            result = show(value)
                            if result is not None:
                                await result
                except ApiCallError:
                    pass  # the page keeps its last values; the next attempt may succeed
                await asyncio.sleep(_RECONNECT_S)

        task = background_tasks.create(follow(), name=f"live {path}")
        client.on_delete(task.cancel)


def notify_error(error: ApiCallError) -> None:
    """Shows an error of the API for some seconds; after the end of a session, the login."""
    if error.code == "LOGIN_REQUIRED":
        ui.navigate.to("/login")
        return
    ui.notify(
        error_text(error),
        type="negative",
        position="top-right",
        timeout=10_000,
        actions=[{"label": "Close", "color": "white"}],
        multi_line=True,
    )


def error_text(error: ApiCallError) -> str:
    """Returns an error of the API in one line."""
    cause = f" ({error.cause})" if error.cause else ""
    return f"{error.code}: {error.message}{cause}"


def show_error(view: View, error: ApiCallError, again: ReadAgain) -> None:
    """Shows an error in place of contents; `again` replaces it, also after an outage."""
    with ui.card().classes("console-card").props("role=alert") as card:
        with ui.row().classes("items-center"):
            ui.icon("error", color="negative", size="28px").props("aria-hidden=true")
            ui.label(error.code).classes("text-weight-bold")
        ui.label(error.message).classes("console-wrap")
        if error.cause:
            ui.label(error.cause).classes("console-wrap console-muted")
        ui.button("Try again", icon="refresh", on_click=again).props("flat no-caps")
    view.on_recovery(card, again)
