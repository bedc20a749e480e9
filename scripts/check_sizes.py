"""Fails when a file or function exceeds its limit, or when a module is a fragment of another.

The limits are in CONTRIBUTING.md and are never raised to fit code. A module with fewer than 60
lines and a single importer usually belongs to its importer; exceptions are listed with a reason in
`small_modules.txt`. CLI nouns and the parts of the console are exempt, because one module per
noun or subject is their order. Generated code is left out.
"""

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

from scripts.code_metrics import importers, load_modules, small_modules

SOURCE_ROOTS = ("src", "codegen", "benchmarks", "examples", "scripts")
MAX_SOURCE_LINES = 600
MAX_TEST_LINES = 800
MAX_FUNCTION_LINES = 60
GENERATED = Path("src/barnabas/wire/messages")
SMALL_MODULES = Path("scripts/small_modules.txt")
EXEMPT_FROM_SMALL = (
    "barnabas.cli.nouns.",
    "barnabas.cli.apache.",
    "barnabas.console.actions.",
    "barnabas.console.api.",
    "barnabas.console.models.",
    "barnabas.console.pages.",
    "barnabas.console.services.",
)


def main() -> int:
    problems = [problem for path in python_files() for problem in problems_of(path)]
    problems += fragment_problems()
    for problem in problems:
        print(problem)
    return 1 if problems else 0


def python_files() -> Iterator[Path]:
    for root in (*SOURCE_ROOTS, "tests"):
        for path in sorted(Path(root).rglob("*.py")):
            if GENERATED not in path.parents:
                yield path


def problems_of(path: Path) -> Iterator[str]:
    text = path.read_text(encoding="utf-8")
    limit = MAX_TEST_LINES if path.parts[0] == "tests" else MAX_SOURCE_LINES
    lines = text.count("\n")
    if lines > limit:
        yield f"{path}: {lines} lines, at most {limit}"
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            length = code_lines(node)
            if length > MAX_FUNCTION_LINES:
                yield f"{path}:{node.lineno}: {node.name} has {length} lines"


def fragment_problems() -> list[str]:
    """Small modules with one importer that are not listed, and listed modules that are not."""
    modules = load_modules()
    small = {
        module.name: module
        for module in small_modules(modules, importers(modules))
        if not module.name.startswith(EXEMPT_FROM_SMALL)
    }
    allowed = allowed_small_modules()
    unlisted = [
        f"{module.path}: {module.lines} lines and one importer: merge it with its importer, or"
        f" list it with a reason in {SMALL_MODULES}"
        for name, module in small.items()
        if name not in allowed
    ]
    outdated = [
        f"{SMALL_MODULES}: {name} is not a small module with one importer any more"
        for name in allowed
        if name not in small
    ]
    return unlisted + outdated


def allowed_small_modules() -> dict[str, str]:
    """Module name and reason of each line `module: reason`; comments start with #."""
    allowed = {}
    for line in SMALL_MODULES.read_text(encoding="utf-8").splitlines():
        name, separator, reason = line.partition(":")
        if line.strip() and not line.startswith("#"):
            if not separator or not reason.strip():
                raise SystemExit(f"{SMALL_MODULES}: {line!r} has no reason")
            allowed[name.strip()] = reason.strip()
    return allowed


def code_lines(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Lines of the function without its docstring."""
    end = node.end_lineno or node.lineno
    length = end - node.lineno + 1
    first = node.body[0]
    if ast.get_docstring(node) is not None:
        length -= (first.end_lineno or first.lineno) - first.lineno + 1
    return length


if __name__ == "__main__":
    sys.exit(main())
