"""Options of the charts, and texts of numbers, for pages."""

from typing import Any

TEAL = "#0b8f8f"
ORANGE = "#d97706"


def rate_chart(names: tuple[str, ...], unit: str) -> dict[str, Any]:
    """Returns a line chart over time with one line per name and no points yet."""
    return {
        "animation": False,
        "color": [TEAL, ORANGE, "#7c3aed"],
        "grid": {"left": 8, "right": 16, "top": 36, "bottom": 8, "containLabel": True},
        "legend": {"data": list(names), "top": 0, "textStyle": {"color": "#888"}},
        "tooltip": {"trigger": "axis"},
        "aria": {"enabled": True},
        "xAxis": {"type": "time", "axisLabel": {"hideOverlap": True}},
        "yAxis": {
            "type": "value",
            "min": 0,
            "name": unit,
            "nameTextStyle": {"align": "left"},
            "splitLine": {"lineStyle": {"opacity": 0.25}},
        },
        "series": [
            {
                "type": "line",
                "name": name,
                "data": [],
                "showSymbol": False,
                "areaStyle": {"opacity": 0.1},
            }
            for name in names
        ],
    }


def histogram_chart(buckets: list[dict[str, Any]]) -> dict[str, Any]:
    """Returns a bar chart of records over time with a horizontal brush."""
    return {
        "animation": False,
        "color": [TEAL],
        "grid": {"left": 8, "right": 16, "top": 36, "bottom": 8, "containLabel": True},
        "tooltip": {"trigger": "axis"},
        "aria": {"enabled": True},
        "brush": {
            "xAxisIndex": 0,
            "brushType": "lineX",
            "brushMode": "single",
            "toolbox": ["lineX", "clear"],
            "throttleType": "debounce",
            "throttleDelay": 300,
        },
        "toolbox": {"right": 8, "top": 0, "iconStyle": {"borderColor": "#888"}},
        "xAxis": {
            "type": "time",
            "axisLabel": {"hideOverlap": True},
            "min": buckets[0]["start_ms"] if buckets else None,
            "max": buckets[-1]["end_ms"] if buckets else None,
        },
        "yAxis": {
            "type": "value",
            "minInterval": 1,
            "splitLine": {"lineStyle": {"opacity": 0.25}},
        },
        "series": [
            {
                "type": "bar",
                "name": "records",
                "barMaxWidth": 24,
                "data": [
                    [(item["start_ms"] + item["end_ms"]) // 2, item["records"]] for item in buckets
                ],
            }
        ],
    }


def bytes_text(value: float | None) -> str:
    """Returns a number of bytes in a readable unit.

    >>> bytes_text(10), bytes_text(1536), bytes_text(None)
    ('10 B', '1.5 KiB', '-')
    """
    if value is None:
        return "-"
    if value < 1024:
        return f"{int(value)} B"
    for unit in ("KiB", "MiB", "GiB", "TiB"):
        value /= 1024
        if value < 1024:
            return f"{value:.1f} {unit}"
    return f"{value / 1024:.1f} PiB"


def count_text(value: float | None) -> str:
    """Returns a number with separators of thousands.

    >>> count_text(1234567), count_text(None), count_text(0.25)
    ('1,234,567', '-', '0.2')
    """
    if value is None:
        return "-"
    return f"{value:,.0f}" if value == int(value) else f"{value:,.1f}"
