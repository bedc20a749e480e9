"""Figures of a suite: printed as a table, kept as JSON; a ratio names what it is compared with."""

import json
import platform
import re
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parent / "results"
_GOAL = re.compile(r"(>=|<=|<|>)\s*([0-9.]+)$")


@dataclass(frozen=True, slots=True)
class Figure:
    """One measurement. `ratio` is value over `beside`, both measured in this run.

    `plot`, `series` and `x` place the value in a plot.
    """

    name: str
    value: float
    unit: str
    beside: str = ""
    ratio: float | None = None
    goal: str = ""
    plot: str = ""
    series: str = ""
    x: float = 0.0

    @property
    def met(self) -> bool | None:
        """Whether the ratio, or the value without one, meets the goal; None without a goal."""
        found = _GOAL.match(self.goal)
        if found is None:
            return None
        measured, limit = self.value if self.ratio is None else self.ratio, float(found[2])
        return {
            ">=": measured >= limit,
            "<=": measured <= limit,
            ">": measured > limit,
            "<": measured < limit,
        }[found[1]]

    @property
    def key(self) -> tuple[str, str]:
        """Identifies a figure in a later run."""
        return self.name, self.beside


@dataclass(slots=True)
class Report:
    """The figures of one suite, in the order they were measured."""

    suite: str
    figures: list[Figure] = field(default_factory=list)
    merge: bool = False
    """Whether to keep figures of the last run that this run did not measure."""
    autosave: Path | None = None
    """Directory to which the figures are saved after each one: a run may be ended early."""

    def add(self, name: str, value: float, unit: str, **more: Any) -> Figure:
        figure = Figure(name, value, unit, **more)
        self.figures.append(figure)
        print(f"  {_line(figure)}", flush=True)
        if self.autosave is not None:
            self.save(self.autosave)
        return figure

    @property
    def misses(self) -> list[Figure]:
        return [figure for figure in self.figures if figure.met is False]

    def save(self, directory: Path = RESULTS) -> Path:
        """Saves the figures; without any, the file of the last run stays as it is."""
        directory.mkdir(exist_ok=True)
        path = directory / f"{self.suite}.json"
        if not self.figures:
            return path
        figures = {figure.key: figure for figure in load(path)} if self.merge else {}
        figures |= {figure.key: figure for figure in self.figures}
        document = {
            "suite": self.suite,
            "machine": {"platform": platform.platform(), "python": platform.python_version()},
            "figures": [asdict(f) | {"met": f.met} for f in figures.values()],
        }
        path.write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")
        return path


def load(path: Path) -> list[Figure]:
    """Returns the figures of a saved suite; none without a file."""
    if not path.exists():
        return []
    document = json.loads(path.read_text(encoding="utf-8"))
    return [
        Figure(**{name: value for name, value in item.items() if name != "met"})
        for item in document["figures"]
    ]


def summary(figures: list[Figure]) -> str:
    """Says how many goals are met and lists those that are not."""
    with_goal = [figure for figure in figures if figure.met is not None]
    missed = [figure for figure in with_goal if not figure.met]
    lines = [f"{len(with_goal) - len(missed)} of {len(with_goal)} goals met"]
    return "\n".join([*lines, *(f"  missed: {_line(figure)}" for figure in missed)])


def markdown(figures: list[Figure]) -> str:
    """The figures with a ratio as a table, misses in bold."""
    rows = ["| what | value | beside | ratio | goal |", "|---|---|---|---|---|"]
    for figure in figures:
        if figure.ratio is None:
            continue
        ratio = f"{figure.ratio:.2f}"
        shown = f"**{ratio} (missed)**" if figure.met is False else ratio
        value = f"{figure.value:,.0f}" if figure.value >= 100 else f"{figure.value:,.2f}"
        rows.append(
            f"| {figure.name} | {value} {figure.unit} | {figure.beside} | {shown} | {figure.goal} |"
        )
    return "\n".join(rows)


def _line(figure: Figure) -> str:
    ratio = "" if figure.ratio is None else f"{figure.ratio:6.2f} of {figure.beside}"
    goal = f"  (goal {figure.goal}{', missed' if figure.met is False else ''})"
    end = goal if figure.goal else ""
    return f"{figure.name:52s} {figure.value:12,.2f} {figure.unit:12s} {ratio}{end}"
