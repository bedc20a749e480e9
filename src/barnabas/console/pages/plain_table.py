"""A table of rows that are all in the page, with a search and an optional button per row."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any, NamedTuple

from nicegui import ui

_ROWS = 15


class RowButton(NamedTuple):
    label: str
    icon: str
    click: Callable[[dict[str, Any]], Awaitable[None]]


def plain_table(
    rows: list[dict[str, Any]],
    columns: Sequence[tuple[str, str]],
    label: str,
    *,
    empty: str = "Nothing found",
    button: RowButton | None = None,
    title: bool = True,
) -> ui.table:
    """Creates a table; `columns` has field names and headings. The first column is the key.

    `title` shows the label above it; a heading of the page may say the same.
    """
    if not rows:
        ui.label(empty).classes("console-muted")
    definitions = [
        {
            "name": field,
            "label": heading,
            "field": field,
            "sortable": True,
            "align": "right" if rows and isinstance(rows[0].get(field), int | float) else "left",
        }
        for field, heading in columns
    ]
    if button is not None:
        definitions.append(
            {"name": "action", "label": "", "field": columns[0][0], "align": "right"}
        )
    table = ui.table(columns=definitions, rows=rows, row_key=columns[0][0], pagination=_ROWS)
    table.classes("console-table").props(
        f'flat bordered dense wrap-cells aria-label="{label}" rows-per-page-label="Rows per page:"'
    )
    if title:
        table.props(f'title="{label}"')
    if len(rows) <= _ROWS:
        table.props("hide-bottom")
    table.set_visibility(bool(rows))
    if button is not None:
        table.add_slot(
            "body-cell-action",
            f'<q-td :props="props"><q-btn flat dense no-caps size="sm" icon="{button.icon}" '
            f'label="{button.label}" @click="() => $parent.$emit(\'press\', props.row)" /></q-td>',
        )
        table.on("press", lambda event: button.click(event.args))
    return table
