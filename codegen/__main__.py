"""`python -m codegen [--check]`: write the generated modules, or fail when they are stale."""

import argparse
import sys
from pathlib import Path

from codegen.grammar import parse_file
from codegen.module import render, render_index

ROOT = Path(__file__).resolve().parent.parent
SCHEMAS = ROOT / "schemas"
OUTPUT = ROOT / "src" / "barnabas" / "wire" / "messages"
_HAND_WRITTEN = {"__init__.py"}


def generate(schemas: Path) -> dict[str, str]:
    """Returns file name and content of every generated module."""
    parsed = [parse_file(path) for path in sorted(schemas.glob("*.msg"))]
    files = {f"{schema.stem}.py": render(schema) for schema in parsed}
    files["index.py"] = render_index(parsed)
    return files


def stale(files: dict[str, str], output: Path) -> list[str]:
    """Returns the names of files that are missing, differ, or have no declaration."""
    found = {path.name for path in output.glob("*.py")} - _HAND_WRITTEN
    wrong = {name for name in found & files.keys() if (output / name).read_text() != files[name]}
    return sorted(wrong | (found ^ files.keys()))


def main() -> int:
    parser = argparse.ArgumentParser(prog="codegen", description=__doc__)
    parser.add_argument("--check", action="store_true", help="change nothing, fail when stale")
    check: bool = parser.parse_args().check
    files = generate(SCHEMAS)
    names = stale(files, OUTPUT)
    if check:
        if names:
            sys.stderr.write(f"stale, run python -m codegen: {', '.join(names)}\n")
        return 3 if names else 0
    for name in names:
        if name in files:
            (OUTPUT / name).write_text(files[name], encoding="utf-8")
        else:
            (OUTPUT / name).unlink()
    sys.stdout.write(f"{len(names)} of {len(files)} files written\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
