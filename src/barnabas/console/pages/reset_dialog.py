"""The dialog that resets committed offsets, with a preview of its effect."""

from collections.abc import Callable
from datetime import datetime
from typing import Any, cast
from urllib.parse import quote

from nicegui import ui

from barnabas.console.actions import groups as actions
from barnabas.console.actions.action import Action
from barnabas.console.api_client import ApiCallError
from barnabas.console.models.common import counted
from barnabas.console.models.groups import ResetRuleName
from barnabas.console.pages.dialogs import ActionDialog, whole
from barnabas.console.pages.view import View, notify_error

_RULES = {
    "earliest": "First record",
    "latest": "End: skip everything",
    "offset": "An offset",
    "shift": "Shift by a number of records",
    "time": "A time",
}
_ALL_TOPICS = "All topics with committed offsets"
_COLUMNS = (
    ("topic", "Topic"),
    ("partition", "Partition"),
    ("current", "Now"),
    ("new", "New"),
    ("again", "Read again"),
    ("skipped", "Skipped"),
)


class ResetDialog:
    """Shows the plan whenever a field changes; the button applies it."""

    def __init__(self, view: View, group: str, topics: Callable[[], list[str]]) -> None:
        self._view = view
        self._group = group
        self._topics = topics
        self._plan: dict[str, Any] | None = None
        self._dialog = ActionDialog(
            view, "Reset offsets", self._make, lambda _: None, message="Offsets were reset"
        )
        with self._dialog.fields:
            self._create_fields()

    async def open(self) -> None:
        self._topic.set_options([_ALL_TOPICS, *self._topics()], value=_ALL_TOPICS)
        self._dialog.open()
        await self._preview()

    def _create_fields(self) -> None:
        self._rule = ui.select(_RULES, value="earliest", label="Start at", on_change=self._preview)
        self._rule.props("outlined dense").classes("full-width reset-rule")
        self._topic = ui.select([_ALL_TOPICS], value=_ALL_TOPICS, on_change=self._preview)
        self._topic.props('outlined dense label="Topic"').classes("full-width")
        self._value = ui.number("Number", precision=0, on_change=self._preview)
        self._value.props("outlined dense debounce=400").classes("full-width")
        self._value.bind_visibility_from(
            self._rule, "value", backward=lambda rule: rule in ("offset", "shift")
        )
        self._time = ui.input("Time in UTC", on_change=self._preview)
        self._time.props("outlined dense debounce=400 type=datetime-local").classes("full-width")
        self._time.bind_visibility_from(self._rule, "value", backward=lambda rule: rule == "time")
        self._effect = ui.label().classes("text-weight-bold reset-effect").props("role=status")
        self._blocked = ui.label().classes("text-negative console-wrap").props("role=alert")
        columns = [
            {"name": name, "label": label, "field": name, "align": "left"}
            for name, label in _COLUMNS
        ]
        self._table = ui.table(columns=columns, rows=[], row_key="key", pagination=5)
        self._table.classes("console-table").props('flat dense aria-label="Plan"')

    async def _preview(self) -> None:
        try:
            body = self._make().body
        except ValueError as error:
            self._show(None, str(error))
            return
        path = f"/groups/{quote(self._group, safe='')}/reset-plan"
        try:
            plan = await self._view.api.request("POST", path, body=body)
        except ApiCallError as error:
            notify_error(error)
            return
        self._show(plan, "")

    def _show(self, plan: dict[str, Any] | None, problem: str) -> None:
        self._plan = plan
        rows = [] if plan is None else plan["partitions"]
        self._table.rows[:] = [{**row, "key": f"{row['topic']}-{row['partition']}"} for row in rows]
        self._table.update()
        if plan is None:
            self._effect.set_text(problem)
            self._blocked.set_text("")
            return
        self._effect.set_text(
            f"{counted(plan['again'], 'record')} would be read again, {plan['skipped']:,} skipped"
        )
        self._blocked.set_text(plan["blocked"] or "")

    def _make(self) -> Action:
        rule = cast("ResetRuleName", self._rule.value)
        topic = None if self._topic.value == _ALL_TOPICS else self._topic.value
        value = whole(self._value.value) if rule in ("offset", "shift") else None
        if rule in ("offset", "shift") and value is None:
            raise ValueError("Enter a number")
        time = _utc(self._time.value) if rule == "time" else None
        planned = [] if self._plan is None else self._plan["partitions"]
        offsets = [(row["topic"], row["partition"], row["new"]) for row in planned]
        return actions.reset_offsets(self._group, rule, topic, value, time, offsets)


def _utc(text: str | None) -> datetime:
    if not text:
        raise ValueError("Enter a time")
    return datetime.fromisoformat(f"{text}+00:00")
