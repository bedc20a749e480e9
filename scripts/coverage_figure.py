"""Stores and prints the branch coverage of src: `--store` after `make coverage`, else prints it.

Tracing branches slows the tests down, so `make test` prints the figure of the last `make coverage`
with its date and commit instead of measuring again.
"""

import json
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

FIGURE = Path("tests/coverage.json")


def main() -> int:
    if "--store" in sys.argv[1:]:
        store()
    print(line())
    return 0


def store() -> None:
    """Writes the total of the coverage data in the current directory."""
    total = _output(sys.executable, "-m", "coverage", "report", "--format=total", "--precision=1")
    figure = {
        "percent": float(total),
        "date": datetime.now(UTC).strftime("%Y-%m-%d"),
        "commit": _output("git", "rev-parse", "--short=10", "HEAD"),
    }
    FIGURE.write_text(json.dumps(figure, indent=2) + "\n", encoding="utf-8")


def line() -> str:
    if not FIGURE.is_file():
        return "branch coverage of src: not measured yet, run `make coverage`"
    figure = json.loads(FIGURE.read_text(encoding="utf-8"))
    return (
        f"branch coverage of src by the fast tests: {figure['percent']} %, measured on"
        f" {figure['date']} at commit {figure['commit']} (`make coverage` measures it again)"
    )


def _output(*command: str) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


if __name__ == "__main__":
    sys.exit(main())
