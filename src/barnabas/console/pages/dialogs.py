"""A dialog for an action: its fields, the button that runs it, and the two copies.

The action is made again from the fields each time, so "Copy as CLI" and "Copy as Python" always
have what the button would do. A dangerous action demands that the name of its object is typed.
Also the input elements that several dialogs use, and the parsing of their values.
"""

from collections.abc import Awaitable, Callable
from typing import Any

from nicegui import ui

from barnabas.console.actions.action import Action
from barnabas.console.pages.frame import heading
from barnabas.console.pages.view import View

MakeAction = Callable[[], Action]
"""Returns the action of the current fields; raises ValueError with a text for the user."""


class ActionDialog:
    """Create it, add the input elements `with dialog.fields:`, then `open()`.

    `done` is called with the response body after success.
    """

    def __init__(
        self,
        view: View,
        title: str,
        make: MakeAction,
        done: Callable[[Any], Awaitable[None] | None],
        *,
        confirm_name: str | None = None,
        message: str = "Done",
    ) -> None:
        self._view = view
        self._make = make
        self._done = done
        self._message = message
        self._dialog = ui.dialog().props(f'aria-label="{title}"')
        with self._dialog, ui.card().style("width: 640px; max-width: 94vw"):
            heading(title, level=2)
            self.fields = ui.column().classes("full-width")
            self._typed = None if confirm_name is None else _confirmation(confirm_name)
            with ui.row().classes("full-width items-center"):
                copy_buttons(view, make)
                ui.space()
                ui.button("Cancel", on_click=self._dialog.close).props("flat no-caps")
                button = ui.button(title, on_click=self._run).props("no-caps").classes("run-action")
        if self._typed is not None:
            button.props("color=negative")
            button.disable()
            self._typed.on_value_change(
                lambda event: button.set_enabled((event.value or "") == confirm_name)
            )

    def open(self) -> None:
        if self._typed is not None:
            self._typed.value = ""
        self._dialog.open()

    async def _run(self) -> None:
        action = made(self._make)
        if action is None:
            return
        result = await self._view.run(action, self._message)
        if result is False:
            return
        self._dialog.close()
        after = self._done(result)
        if after is not None:
            await after


def _confirmation(name: str) -> ui.input:
    label = f"Type {name} to confirm"
    return ui.input(label).props("outlined dense").classes("full-width confirm-name")


def made(make: MakeAction) -> Action | None:
    """Returns the action, or None after a message to the user about wrong fields."""
    try:
        return make()
    except ValueError as error:
        ui.notify(str(error), type="warning", position="top-right")
        return None


def copy_buttons(view: View, make: MakeAction) -> None:
    """Creates the buttons that copy an action as a command line and as Python."""

    def copy(kind: str) -> None:
        action = made(make)
        if action is None:
            return
        in_shell = kind == "CLI"
        text = action.cli_text(view.bootstrap) if in_shell else action.python_text(view.bootstrap)
        ui.clipboard.write(text)
        ui.notify(f"Copied as {kind}", caption=text, multi_line=True, position="top-right")

    for kind, icon in (("CLI", "terminal"), ("Python", "code")):
        ui.button(f"Copy as {kind}", icon=icon, on_click=lambda kind=kind: copy(kind)).props(
            "flat dense no-caps"
        ).classes(f"copy-{kind.lower()}")


def number_field(label: str, hint: str = "", minimum: int = 1) -> ui.number:
    """A field for a whole number; an empty field is None."""
    field = ui.number(label, min=minimum, precision=0)
    field.props("outlined dense").classes("full-width")
    return field.props(f'hint="{hint}"') if hint else field


def text_field(label: str, hint: str = "") -> ui.input:
    field = ui.input(label).props("outlined dense").classes("full-width")
    return field.props(f'hint="{hint}"') if hint else field


def whole(value: float | None) -> int | None:
    """Returns the value of a number field as an int.

    >>> whole(3.0), whole(None)
    (3, None)
    """
    return None if value is None else int(value)


def parse_configs(text: str | None) -> dict[str, str]:
    """Parses lines of KEY=VALUE; raises ValueError for the user.

    >>> parse_configs("retention.ms=1000\\n\\ncleanup.policy = compact")
    {'retention.ms': '1000', 'cleanup.policy': 'compact'}
    """
    found: dict[str, str] = {}
    for line in (text or "").splitlines():
        if not line.strip():
            continue
        key, equals, value = line.partition("=")
        if not equals or not key.strip():
            raise ValueError(f"{line.strip()!r} must look like KEY=VALUE")
        found[key.strip()] = value.strip()
    return found
