"""Charts of a group: the lag over time, and the assignment as a matrix."""

from collections import deque
from datetime import datetime
from typing import Any

from nicegui import ui

from barnabas.console.pages.frame import PRIMARY, heading

_POINTS = 150
_CELLS = 4000
_ROW_PX = 26


class LagChart:
    """The lag since the page was opened."""

    def __init__(self) -> None:
        self._values: deque[tuple[str, int]] = deque(maxlen=_POINTS)
        with ui.card().classes("console-card").props("flat bordered"):
            heading("Lag", level=2)
            self._chart = ui.echart(
                {
                    "grid": {"left": 60, "right": 12, "top": 12, "bottom": 28},
                    "tooltip": {"trigger": "axis"},
                    "xAxis": {"type": "category", "data": []},
                    "yAxis": {"type": "value", "minInterval": 1},
                    "series": [
                        {
                            "type": "line",
                            "name": "records",
                            "data": [],
                            "areaStyle": {"opacity": 0.2},
                            "showSymbol": False,
                            "color": PRIMARY,
                        }
                    ],
                    "animation": False,
                }
            )
            self._chart.style("height: 220px; width: 100%").props(
                'role=img aria-label="Lag in records over time"'
            )

    def add(self, records: int) -> None:
        self._values.append((f"{datetime.now():%H:%M:%S}", records))  # noqa: DTZ005 - local time
        self._chart.options["xAxis"]["data"] = [at for at, _ in self._values]
        self._chart.options["series"][0]["data"] = [number for _, number in self._values]
        self._chart.update()


class AssignmentMatrix:
    """Members as rows, partitions as columns; a filled cell is an assigned partition."""

    def __init__(self) -> None:
        self._chart = ui.echart(
            {
                "grid": {"left": 170, "right": 12, "top": 12, "bottom": 70},
                "tooltip": {},
                "xAxis": {"type": "category", "data": [], "axisLabel": {"rotate": 45}},
                "yAxis": {"type": "category", "data": [], "inverse": True},
                "visualMap": {
                    "show": False,
                    "min": 0,
                    "max": 1,
                    "inRange": {"color": ["#d9a441", PRIMARY]},
                },
                "series": [
                    {
                        "type": "heatmap",
                        "data": [],
                        "itemStyle": {"borderWidth": 1, "borderColor": "#8888"},
                    }
                ],
                "animation": False,
            }
        )
        self._chart.style("width: 100%").props(
            'role=img aria-label="Assignment of partitions to members; the list below has the text"'
        )
        self._note = ui.label().classes("console-muted")
        self._shown: object = None

    def show(self, members: list[dict[str, Any]]) -> None:
        """Draws the matrix if the assignment changed."""
        state = [(member["member_id"], member["assigned"], member["target"]) for member in members]
        if state == self._shown:
            return
        self._shown = state
        columns, cells, names = matrix_of(members)
        self._chart.set_visibility(bool(cells))
        options = self._chart.options
        options["xAxis"]["data"] = column_labels(columns)
        options["yAxis"]["data"] = names
        options["series"][0]["data"] = cells
        self._chart.style(f"height: {120 + _ROW_PX * max(len(names), 2)}px")
        self._chart.update()
        pending = any(value == 0 for _, _, value in cells)
        self._note.set_text("Light cells: partitions that will move here." if pending else "")


def matrix_of(
    members: list[dict[str, Any]],
) -> tuple[list[str], list[list[int]], list[str]]:
    """Returns partition names, cells (column, row, 1 assigned or 0 target), and member names.

    Only the first cells are drawn if there are too many for a chart.
    """
    current = [_names(member["assigned"]) for member in members]
    target = [_names(member["target"] or []) for member in members]
    columns = sorted(set().union(*current, *target), key=_by_number) if members else []
    columns = columns[: max(_CELLS // max(len(members), 1), 1)]
    cells = []
    for row, (assigned, wanted) in enumerate(zip(current, target, strict=True)):
        for number, name in enumerate(columns):
            if name in assigned:
                cells.append([number, row, 1])
            elif name in wanted:
                cells.append([number, row, 0])
    labels = [f"{member['client_id']}@{member['host']}" for member in members]
    return columns, cells, labels


def column_labels(columns: list[str]) -> list[str]:
    """Returns short names of partitions: the number is enough if there is one topic.

    >>> column_labels(["orders-0", "orders-1"]), column_labels(["a-0", "a-long-topic-name-1"])
    (['0', '1'], ['a-0', 'a-long-topi…-1'])
    """
    parts = [name.rpartition("-") for name in columns]
    if len({topic for topic, _, _ in parts}) == 1:
        return [number for _, _, number in parts]
    return [
        f"{topic if len(topic) <= 12 else topic[:11] + '…'}-{number}" for topic, _, number in parts
    ]


def _names(partitions: list[dict[str, Any]]) -> set[str]:
    return {f"{item['topic']}-{item['partition']}" for item in partitions}


def _by_number(name: str) -> tuple[str, int]:
    topic, _, number = name.rpartition("-")
    return topic, int(number)
