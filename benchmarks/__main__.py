"""`python -m benchmarks [--quick | --short] [SUITE ...]`: runs suites, saves figures and plots.

`python -m benchmarks --table SUITE` prints the figures of the last run as a Markdown table, and
`--plots` draws the plots again.
"""

import importlib
import os
import signal
import sys

from benchmarks import plots
from benchmarks.report import RESULTS, Figure, Report, load, markdown, summary
from benchmarks.settings import SettingError

SUITES = (
    "matrix",
    "broker",
    "groups",
    "clients",
    "cluster",
    "growth",
    "several_cores",
    "fixed_rate",
    "small_requests",
    "metrics_cost",
    "holds",
    "spark",
    "streams",
)
QUICK_SUITES = ("matrix", "fixed_rate", "growth", "several_cores")
QUICK = {
    "BARNABAS_BENCH_QUICK": "1",
    "BARNABAS_BENCH_TURNS": "3",
    "BARNABAS_BENCH_SCALE": "0.5",
    "BARNABAS_BENCH_RATES": "1000",
    "BARNABAS_BENCH_BROKERS": "1",
    "BARNABAS_BENCH_PARTITIONS": "100,1000",
    "BARNABAS_BENCH_CONNECTIONS": "100,1000",
}
"""Settings of `--quick`: a representative part in less than five minutes."""


SHORT = {
    "BARNABAS_BENCH_SHORT": "1",
    "BARNABAS_BENCH_SECONDS": "1",
    "BARNABAS_BENCH_RATE_SECONDS": "3",
    "BARNABAS_BENCH_PARTITIONS": "1,1000,5000,20000",
    "BARNABAS_BENCH_CONNECTIONS": "1,1000,10000",
}
"""Settings of `--short`: all cells, with shorter turns and slower clients in fewer cells."""
SHORT_SUITES = (
    "matrix",
    "small_requests",
    "fixed_rate",
    "metrics_cost",
    "growth",
    "several_cores",
)


def main(arguments: list[str]) -> int:
    if "--help" in arguments:
        print(f"{__doc__}\nSuites: {', '.join(SUITES)}")
        return 0
    options = {argument for argument in arguments if argument.startswith("--")}
    names = [argument for argument in arguments if not argument.startswith("--")]
    unknown = [name for name in names if name not in SUITES]
    if unknown or options - {"--quick", "--short", "--table", "--plots"}:
        bad = (unknown or sorted(options))[0]
        print(f"unknown suite or option {bad!r}; suites: {', '.join(SUITES)}", file=sys.stderr)
        return 2
    if "--table" in options:
        for name in names or SUITES:
            print(f"\n### {name}\n")
            print(markdown(load(RESULTS / f"{name}.json")))
        return 0
    if "--plots" not in options:
        try:
            _run(names, options)
        except SettingError as error:
            print(error, file=sys.stderr)
            return 2
    _draw()
    return 0


def _run(names: list[str], options: set[str]) -> None:
    # Saves what was measured and stops the brokers if the run is ended early.
    signal.signal(signal.SIGTERM, lambda number, _frame: sys.exit(128 + number))
    suites, settings = SUITES, {}
    if "--quick" in options:
        suites, settings = QUICK_SUITES, QUICK
    elif "--short" in options:
        suites, settings = SHORT_SUITES, SHORT
    for name, value in settings.items():
        os.environ.setdefault(name, value)
    figures: list[Figure] = []
    for name in names or suites:
        print(f"{name}:", flush=True)
        report = Report(name, autosave=RESULTS)
        try:
            importlib.import_module(f"benchmarks.{name}").run(report)
        finally:
            path = report.save()
            print(f"  saved to {path}" if report.figures else "  nothing was measured")
        figures += report.figures
    print(summary(figures))


def _draw() -> None:
    try:
        drawn = plots.draw_all()
    except ImportError as error:
        print(f"no plots: {error}; install barnabas[bench]", file=sys.stderr)
        return
    for path in drawn:
        print(f"  plot: {path}")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
