"""A page made from code: write it, or with --check fail when it is not what the code says now."""

import sys
from pathlib import Path


def write_or_check(path: Path, text: str, command: str) -> int:
    """The exit status of a generator of one page."""
    if "--check" not in sys.argv[1:]:
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return 0
    if path.exists() and path.read_text(encoding="utf-8") == text:
        return 0
    print(f"{path} is out of date: run `{command}`", file=sys.stderr)
    return 1


def table(header: list[str], rows: list[list[str]]) -> str:
    """A Markdown table; cells may hold anything but line ends.

    >>> print(table(["a"], [["x|y"]]))
    | a |
    |---|
    | x\\|y |
    """
    lines = [_line(header), "|" + "---|" * len(header), *(_line(row) for row in rows)]
    return "\n".join(lines)


def _line(cells: list[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"
