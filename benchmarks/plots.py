"""SVG plots of the saved figures, with matplotlib (extra `bench`).

Each figure that names a plot is a point of it. Both axes are logarithmic: sizes, rates and numbers
of partitions span several powers of ten, and a cost that grows linearly is a straight line of
slope one.
"""

import re
from collections.abc import Iterable
from pathlib import Path

from benchmarks.report import RESULTS, Figure, load

X_LABELS = {
    "throughput": "bytes of a value",
    "latency": "records per second",
    "growth": "partitions or connections in one broker",
}
Series = dict[str, list[tuple[float, float]]]


def draw_all(directory: Path = RESULTS) -> list[Path]:
    """Draws the plots of every saved suite; returns the files."""
    figures = [figure for path in sorted(directory.glob("*.json")) for figure in load(path)]
    return [_draw(name, found, directory) for name, found in group(figures).items()]


def group(figures: Iterable[Figure]) -> dict[str, list[Figure]]:
    """Returns the figures of each plot."""
    plots: dict[str, list[Figure]] = {}
    for figure in figures:
        if figure.plot:
            plots.setdefault(figure.plot, []).append(figure)
    return plots


def series_of(figures: Iterable[Figure]) -> Series:
    """Returns the points of each line, in the order of x."""
    lines: Series = {}
    for figure in figures:
        lines.setdefault(figure.series, []).append((figure.x, figure.value))
    return {name: sorted(points) for name, points in lines.items()}


def file_name(plot: str) -> str:
    """
    >>> file_name("throughput by size: produce, defaults")
    'throughput-by-size-produce-defaults.svg'
    """
    return re.sub(r"[^a-z0-9]+", "-", plot.lower()).strip("-") + ".svg"


def _draw(name: str, figures: list[Figure], directory: Path) -> Path:
    import matplotlib as mpl  # an optional extra, and slow to import

    mpl.use("svg")
    from matplotlib import pyplot

    drawing, axes = pyplot.subplots(figsize=(8, 5))
    for series, points in series_of(figures).items():
        axes.plot(*zip(*points, strict=True), marker="o", label=series)
    axes.set(title=name, xscale="log", yscale="log", ylabel=figures[0].unit)
    axes.set_xlabel(X_LABELS.get(name.split(" ", 1)[0], ""))
    axes.grid(visible=True, which="both", alpha=0.3)
    axes.legend()
    path = directory / file_name(name)
    drawing.savefig(path, metadata={"Date": None})
    pyplot.close(drawing)
    return path
