"""Rows of figures, printed as a table and kept as JSON; a figure always says what it is beside."""

import json
import platform
from dataclasses import asdict, dataclass, field
from pathlib import Path

RESULTS = Path(__file__).parent / "results"


@dataclass(frozen=True, slots=True)
class Figure:
    """One measurement. `ratio` is value over `beside`, both measured in this run."""

    name: str
    value: float
    unit: str
    beside: str = ""
    ratio: float | None = None
    goal: str = ""


@dataclass(slots=True)
class Report:
    """The figures of one suite, in the order they were measured."""

    suite: str
    figures: list[Figure] = field(default_factory=list)

    def add(self, name: str, value: float, unit: str, **more: str | float | None) -> Figure:
        figure = Figure(name, value, unit, **more)  # type: ignore[arg-type]
        self.figures.append(figure)
        print(f"  {_line(figure)}", flush=True)
        return figure

    def save(self) -> Path:
        RESULTS.mkdir(exist_ok=True)
        path = RESULTS / f"{self.suite}.json"
        document = {
            "suite": self.suite,
            "machine": {"platform": platform.platform(), "python": platform.python_version()},
            "figures": [asdict(figure) for figure in self.figures],
        }
        path.write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")
        return path


def _line(figure: Figure) -> str:
    ratio = "" if figure.ratio is None else f"{figure.ratio:6.2f} of {figure.beside}"
    goal = f"  (goal {figure.goal})" if figure.goal else ""
    return f"{figure.name:44s} {figure.value:12,.2f} {figure.unit:12s} {ratio}{goal}"
