"""`python -m benchmarks [SUITE ...]`: run suites one after the other, print and save figures."""

import importlib
import sys

from benchmarks.report import Report

SUITES = ("broker", "peer", "groups", "clients", "cluster", "spark", "streams")


def main(names: list[str]) -> int:
    unknown = [name for name in names if name not in SUITES]
    if unknown:
        print(f"unknown suite {unknown[0]!r}; there are: {', '.join(SUITES)}", file=sys.stderr)
        return 2
    for name in names or SUITES:
        print(f"{name}:", flush=True)
        report = Report(name)
        importlib.import_module(f"benchmarks.{name}").run(report)
        print(f"  saved to {report.save()}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
