"""Fails when a file, function or package outgrows its norm; the norms are in CONTRIBUTING.md.

Generated code is left out. The limits are never raised to fit code: the code is split.
"""

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

SOURCE_ROOTS = ("src", "codegen", "benchmarks", "examples", "scripts")
MAX_SOURCE_LINES = 600
MAX_TEST_LINES = 800
MAX_FUNCTION_LINES = 60
GENERATED = Path("src/barnabas/wire/messages")


def main() -> int:
    problems = [problem for path in python_files() for problem in problems_of(path)]
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
