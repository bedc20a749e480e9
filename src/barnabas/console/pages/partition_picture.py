"""The picture of a topic's partitions: one row per partition, one column per broker.

A cell shows the replica of a broker: leader, follower in sync, or out of sync. The bar of a row
shows the log from its start to the high watermark, on the scale of all shown partitions, with a
mark where each group stands.
"""

from typing import Any
from urllib.parse import quote

from nicegui import ui

from barnabas.console.api_client import ApiCallError
from barnabas.console.pages.charts import bytes_text, count_text
from barnabas.console.pages.view import View, notify_error

_PAGE = 50
_MAX_BROKERS = 24


class PartitionPicture:
    """Creates the picture; a topic with many partitions is shown page by page."""

    def __init__(self, view: View, topic: str, brokers: list[int]) -> None:
        self._view = view
        self._path = f"/topics/{quote(topic)}/partitions"
        self._brokers = brokers[:_MAX_BROKERS]
        self._offset = 0
        self._area = ui.element("div").style("display: none")

    async def create(self) -> None:
        self._area = ui.element("div").classes("full-width").style("overflow-x: auto")
        self._pages = ui.element("div").classes("console-row")
        await self.reload()

    async def reload(self) -> None:
        try:
            page = await self._view.api.get(self._path, offset=self._offset, limit=_PAGE)
        except ApiCallError as error:
            notify_error(error)
            return
        self._area.clear()
        with self._area:
            self._table(page["items"])
        self._pages.clear()
        if page["total"] > _PAGE:
            with self._pages:
                self._page_buttons(page["total"])

    def _page_buttons(self, total: int) -> None:
        last = min(self._offset + _PAGE, total)
        previous = ui.button(icon="chevron_left", on_click=lambda: self._move(-_PAGE))
        previous.props('flat round dense aria-label="Previous partitions"')
        previous.set_enabled(self._offset > 0)
        ui.label(f"Partitions {self._offset} to {last - 1} of {count_text(total)}")
        following = ui.button(icon="chevron_right", on_click=lambda: self._move(_PAGE))
        following.props('flat round dense aria-label="Next partitions"')
        following.set_enabled(last < total)

    async def _move(self, step: int) -> None:
        self._offset = max(self._offset + step, 0)
        await self.reload()

    def _table(self, items: list[dict[str, Any]]) -> None:
        low = min((item["log_start_offset"] or 0 for item in items), default=0)
        high = max((item["high_watermark"] or 0 for item in items), default=0)
        with ui.element("table").classes("console-picture").props('aria-label="Partitions"'):
            with ui.element("thead"), ui.element("tr"):
                for text in ("Partition", *(f"Broker {item}" for item in self._brokers)):
                    _cell("th", text)
                _cell("th", "Log start to high watermark, groups", "wide")
            with ui.element("tbody"):
                for item in items:
                    self._row(item, low, high)

    def _row(self, item: dict[str, Any], low: int, high: int) -> None:
        replicas = {replica["broker"]: replica for replica in item["replicas"]}
        with ui.element("tr"):
            _cell("th", str(item["partition"]))
            for broker in self._brokers:
                with ui.element("td"):
                    if broker in replicas:
                        _replica(replicas[broker])
            with ui.element("td").classes("wide"):
                _bar(item, low, high)


def _cell(tag: str, text: str, classes: str = "") -> None:
    with ui.element(tag).classes(classes):
        ui.label(text)


def _replica(replica: dict[str, Any]) -> None:
    if not replica["online"]:
        kind, word = "offline", "offline"
    elif not replica["in_sync"]:
        kind, word = "behind", "out of sync"
    elif replica["leader"]:
        kind, word = "leader", "leader"
    else:
        kind, word = "follower", "in sync"
    with ui.element("div").classes(f"console-replica {kind}"):
        ui.label(word)
        if replica["size_bytes"] is not None:
            ui.label(bytes_text(replica["size_bytes"])).classes("console-muted")
        if replica["lag"]:
            ui.label(f"lag {count_text(replica['lag'])}").classes("console-muted")


def _bar(item: dict[str, Any], low: int, high: int) -> None:
    start, end = item["log_start_offset"], item["high_watermark"]
    if start is None or end is None:
        ui.label("no leader").classes("text-negative")
        return
    span = max(high - low, 1)
    left, width = 100 * (start - low) / span, 100 * (end - start) / span
    with ui.element("div").classes("console-log").props("aria-hidden=true"):
        ui.element("div").classes("console-log-fill").style(
            f"left: {left:.2f}%; width: {width:.2f}%"
        )
        for group in item["groups"]:
            at = min(max(100 * (group["offset"] - low) / span, 0), 100)
            with ui.element("div").classes("console-log-mark").style(f"left: {at:.2f}%"):
                ui.tooltip(f"{group['group']} at {count_text(group['offset'])}")
    texts = [f"{count_text(start)} to {count_text(end)}"]
    texts += [f"{group['group']}: lag {count_text(group['lag'])}" for group in item["groups"][:3]]
    if len(item["groups"]) > 3:
        texts.append(f"{len(item['groups']) - 3} more groups")
    ui.label(" · ".join(texts)).classes("console-small console-wrap")
