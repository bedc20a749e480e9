"""The pages of groups: the list, and one group with members, lag, rebalances and the reset of its
offsets.
"""

from collections.abc import Callable
from datetime import datetime
from typing import cast
from urllib.parse import quote

from nicegui import ui

from barnabas.console.actions import groups as actions
from barnabas.console.actions.action import Action
from barnabas.console.api_client import ApiCallError, JsonObject
from barnabas.console.models.common import counted
from barnabas.console.models.groups import ResetRuleName
from barnabas.console.pages.charts import AssignmentMatrix, LagChart
from barnabas.console.pages.dialogs import ActionDialog, whole
from barnabas.console.pages.frame import heading
from barnabas.console.pages.tables import PagedTable, TableColumn
from barnabas.console.pages.view import View, notify_error
from barnabas.console.security.identity import Role

_RULES = {
    "earliest": "First record",
    "latest": "End: skip everything",
    "offset": "An offset",
    "shift": "Shift by a number of records",
    "time": "A time",
}
_ALL_TOPICS = "All topics with committed offsets"
_PLAN_COLUMNS = (
    ("topic", "Topic"),
    ("partition", "Partition"),
    ("current", "Now"),
    ("new", "New"),
    ("again", "Read again"),
    ("skipped", "Skipped"),
)
_COLUMNS = (
    TableColumn(
        "name",
        "Group",
        link="/groups/",
        link_suffix="props.row.type == 'ZooKeeper' ? '?source=zookeeper' : ''",
    ),
    TableColumn("state", "State"),
    TableColumn("type", "Type"),
    TableColumn("members", "Members", "count", sortable=False),
    TableColumn("topics", "Topics", "count"),
    TableColumn("lag", "Lag", "count"),
    TableColumn("lag_seconds", "Lag in time", "seconds", sortable=False),
    TableColumn("change_per_second", "Trend", "rate"),
    TableColumn("catch_up_seconds", "Catches up in", "seconds"),
)
_PARTITION_COLUMNS = (
    ("topic", "Topic", "left"),
    ("partition", "Partition", "right"),
    ("committed", "Committed", "right"),
    ("log_end", "Log end", "right"),
    ("lag", "Lag", "right"),
    ("age", "Lag in time", "right"),
    ("member", "Member", "left"),
)
_ACTIVE_REFRESH_S = 5.0


class ResetDialog:
    """Shows the plan whenever a field changes; the button applies it."""

    def __init__(self, view: View, group: str, topics: Callable[[], list[str]]) -> None:
        self._view = view
        self._group = group
        self._topics = topics
        self._plan: JsonObject | None = None
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
            for name, label in _PLAN_COLUMNS
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

    def _show(self, plan: JsonObject | None, problem: str) -> None:
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


async def list_page(view: View) -> None:
    """The list of groups; it is read again every few seconds."""
    table = PagedTable(view, "/groups", _COLUMNS, "Groups", empty="No groups")
    await table.create()
    ui.timer(_ACTIVE_REFRESH_S, table.reload, immediate=False)


async def group_page(view: View) -> None:
    """One group; the values follow the group."""
    name = view.params["name"]
    source = "zookeeper" if view.query.get("source") == "zookeeper" else "brokers"
    group = await view.api.get(_path(name), source=source)
    if not group["described"]:
        ui.label(f"Type: {group['type']}. State: {group['state']}.")
        ui.label("Members and offsets of groups of this type are not shown here.").classes(
            "console-muted"
        )
        return
    await _GroupPage(view, name, source, group).create()


def _path(name: str, rest: str = "") -> str:
    return f"/groups/{quote(name, safe='')}{rest}"


class _GroupPage:
    def __init__(self, view: View, name: str, source: str, group: JsonObject) -> None:
        self._view = view
        self._name = name
        self._source = source
        self._group = group

    async def create(self) -> None:
        self._create_actions()
        with ui.element("div").classes("console-grid"):
            self._create_summary()
            self._lag_chart = LagChart()
        with ui.tabs().props("align=left no-caps") as tabs:
            partitions = ui.tab("Partitions")
            members = ui.tab("Members")
            rebalances = ui.tab("Rebalances")
        with ui.tab_panels(tabs, value=partitions).classes("full-width"):
            with ui.tab_panel(partitions):
                self._create_partitions()
            with ui.tab_panel(members):
                self._create_members()
            with ui.tab_panel(rebalances):
                await self._create_rebalances()
        self._show(self._group)
        self._view.live(_path(self._name, "/events"), self._show, source=self._source)

    def _create_actions(self) -> None:
        if not self._view.may(Role.OPERATE):
            return
        reset = ResetDialog(self._view, self._name, self._topics)
        delete = ActionDialog(
            self._view,
            "Delete group",
            lambda: actions.delete_group(self._name, self._in_zookeeper()),
            lambda _: ui.navigate.to("/groups"),
            confirm_name=self._name,
            message="Group deleted",
        )
        with delete.fields:
            ui.label("The group must have no members. Its committed offsets are deleted.")
        with ui.element("div").classes("console-row"):
            if self._source == "brokers":
                ui.button("Reset offsets", icon="restart_alt", on_click=reset.open).props("no-caps")
            ui.button("Delete group", icon="delete", on_click=delete.open).props(
                "no-caps outline color=negative"
            )

    def _in_zookeeper(self) -> str | None:
        """Returns the address of ZooKeeper for a group that is stored there."""
        return self._view.zookeeper if self._source == "zookeeper" else None

    def _topics(self) -> list[str]:
        return sorted({item["topic"] for item in self._group["partitions"]})

    def _create_summary(self) -> None:
        with ui.card().classes("console-card").props("flat bordered"):
            heading("Summary", level=2)
            self._summary = {
                label: _figure(label)
                for label in (
                    "State",
                    "Type",
                    "Assignor",
                    "Coordinator",
                    "Members",
                    "Lag",
                    "Lag in time",
                    "Trend",
                    "Catches up in",
                )
            }

    def _create_partitions(self) -> None:
        columns = [
            {"name": name, "label": label, "field": name, "align": align, "sortable": True}
            for name, label, align in _PARTITION_COLUMNS
        ]
        self._partitions = ui.table(columns=columns, rows=[], row_key="key", pagination=25)
        self._partitions.classes("console-table").props(
            'flat bordered dense wrap-cells aria-label="Partitions" '
            'no-data-label="No committed offsets" rows-per-page-label="Rows per page:"'
        )

    def _create_members(self) -> None:
        self._matrix = AssignmentMatrix()
        self._members = ui.column().classes("full-width")
        self._shown_members: list[str] | None = None

    async def _create_rebalances(self) -> None:
        with ui.element("div").classes("console-row") as row:
            row.set_visibility(self._source == "brokers")
            ui.button("Read again", icon="refresh", on_click=self._load_rebalances).props(
                "flat no-caps"
            )
        self._rebalances = ui.column().classes("full-width")
        await self._load_rebalances()

    async def _load_rebalances(self) -> None:
        if self._source == "zookeeper":
            with self._rebalances:
                ui.label("ZooKeeper keeps no history of rebalances").classes("console-muted")
            return
        found = await self._view.api.get(_path(self._name, "/rebalances"))
        self._rebalances.clear()
        with self._rebalances:
            show_rebalances(found)

    def _show(self, group: JsonObject) -> None:
        self._group = group
        lag = group["lag"]
        for label, text in {
            "State": group["state"],
            "Type": group["type"],
            "Assignor": group["assignor"] or "-",
            "Coordinator": "-"
            if group["coordinator"] is None
            else f"broker {group['coordinator']}",
            "Members": str(len(group["members"])),
            "Lag": f"{lag['records']:,}",
            "Lag in time": duration_text(lag["seconds"]),
            "Trend": trend_text(lag["change_per_second"]),
            "Catches up in": duration_text(lag["catch_up_seconds"]),
        }.items():
            self._summary[label].set_text(text)
        self._lag_chart.add(lag["records"])
        self._partitions.rows[:] = [_partition_row(item) for item in group["partitions"]]
        self._partitions.update()
        self._matrix.show(group["members"])
        self._show_members(group["members"])

    def _show_members(self, members: list[JsonObject]) -> None:
        names = [item["member_id"] for item in members]
        if names == self._shown_members:
            return  # an unchanged list is not drawn again: an open menu would close
        self._shown_members = names
        self._members.clear()
        with self._members:
            if not members:
                ui.label("No members").classes("console-muted")
            for member in members:
                self._member_card(member)

    def _member_card(self, member: JsonObject) -> None:
        name = member["instance_id"] or member["member_id"]
        with (
            ui.card().classes("console-card").props("flat bordered"),
            ui.row().classes("full-width items-center"),
        ):
            with ui.column().classes("col"):
                ui.label(f"{member['client_id']}@{member['host']}").classes("text-weight-bold")
                ui.label(name).classes("console-muted console-wrap console-mono")
                ui.label(counted(len(member["assigned"]), "partition"))
            if self._view.may(Role.OPERATE) and self._source == "brokers":
                static = member["instance_id"] is not None
                dialog = ActionDialog(
                    self._view,
                    "Remove member",
                    lambda: actions.remove_member(self._name, name, static),
                    lambda _: None,
                    message="Member removed",
                )
                with dialog.fields:
                    ui.label("The group rebalances. A client that is still running joins again.")
                ui.button("Remove", icon="person_remove", on_click=dialog.open).props(
                    'flat no-caps aria-label="Remove this member"'
                )


def show_rebalances(found: JsonObject) -> None:
    """Creates the timeline."""
    if not found["items"]:
        ui.label("No rebalance is recorded for this group").classes("console-muted")
        return
    with ui.timeline(side="right").classes("rebalances"):
        for item in found["items"]:
            with ui.timeline_entry(
                title=f"Generation {item['generation']}: {_change_text(item)}",
                subtitle=_time_text(item),
            ):
                _rebalance_details(item)
    if not found["complete"]:
        ui.label("Older rebalances are not shown: their records were compacted.").classes(
            "console-muted"
        )


def _rebalance_details(item: JsonObject) -> None:
    if item["reason"]:
        ui.label(f"Reason: {item['reason']}").classes("console-wrap")
    for word, names in (("Joined", item["joined"]), ("Left", item["left"])):
        if names:
            ui.label(f"{word}: {', '.join(names)}").classes("console-wrap")
    if not item["moved"]:
        ui.label(f"No partition moved; {item['unchanged']} stayed")
        return
    title = f"{counted(len(item['moved']), 'partition')} moved, {item['unchanged']} stayed"
    with ui.expansion(title).classes("full-width"):
        for moved in item["moved"][:200]:
            ui.label(
                f"{moved['topic']}-{moved['partition']}: "
                f"{moved['before'] or 'no owner'} → {moved['after'] or 'no owner'}"
            ).classes("console-wrap")


def _change_text(item: JsonObject) -> str:
    parts = [
        f"{len(names)} {word}"
        for word, names in (("joined", item["joined"]), ("left", item["left"]))
        if names
    ]
    return f"{', '.join(parts) or 'same members'}; {counted(item['members'], 'member')}"


def _time_text(item: JsonObject) -> str:
    finished = datetime.fromisoformat(item["finished"])
    text = f"{finished:%Y-%m-%d %H:%M:%S} UTC"
    return text if item["seconds"] is None else f"{text}, took {duration_text(item['seconds'])}"


def _partition_row(item: JsonObject) -> JsonObject:
    return {
        **item,
        "key": f"{item['topic']}-{item['partition']}",
        "committed": _shown(item["committed"]),
        "log_end": _shown(item["log_end"]),
        "lag": _shown(item["lag"]),
        "age": duration_text(item["lag_seconds"]),
        "member": item["member"] or "-",
    }


def _figure(label: str) -> ui.label:
    with ui.row().classes("full-width no-wrap"):
        ui.label(label).classes("console-muted").style("width: 130px; flex: none")
        return ui.label("-").classes("console-wrap").props(f'data-fact="{label}"')


def _shown(value: int | None) -> str:
    return "-" if value is None else f"{value:,}"


def trend_text(change_per_second: float | None) -> str:
    """Returns the change of the lag in words.

    >>> trend_text(-12.5), trend_text(0), trend_text(None)
    ('falls by 12.5/s', 'constant', '-')
    """
    if change_per_second is None:
        return "-"
    if abs(change_per_second) < 0.05:
        return "constant"
    word = "grows" if change_per_second > 0 else "falls"
    return f"{word} by {abs(change_per_second):,.1f}/s"


def duration_text(seconds: float | None) -> str:
    """Returns a duration with its two largest units.

    >>> duration_text(0), duration_text(0.25), duration_text(75), duration_text(90_000)
    ('0 s', '0.25 s', '1 min 15 s', '1 d 1 h')
    """
    if seconds is None:
        return "-"
    if seconds < 60:
        return f"{seconds:.3g} s"
    rest = int(seconds)
    parts = []
    for size, unit in ((86_400, "d"), (3600, "h"), (60, "min"), (1, "s")):
        count, rest = divmod(rest, size)
        if count:
            parts.append(f"{count} {unit}")
    return " ".join(parts[:2])
