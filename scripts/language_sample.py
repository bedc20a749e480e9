"""Prints random docstrings, comments and log lines of the source tree, for a language review.

A reviewer reads each sample once and marks those that need a second reading. The seed makes a
sample repeatable: `python scripts/language_sample.py --seed 7 --count 50`. Public means that no
part of the module path or of the name starts with an underscore and that the text documents a
module, class or function; comments, log lines and texts of private names are private.
"""

import argparse
import ast
import io
import random
import sys
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

SOURCE = Path("src")
GENERATED = SOURCE / "barnabas/wire/messages"
LOG_METHODS = {"debug", "info", "warning", "error", "exception", "critical"}


@dataclass(frozen=True)
class Sample:
    """One text with its place."""

    place: str
    text: str
    public: bool


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=1, help="seed of the random choice")
    parser.add_argument("--count", type=int, default=50, help="samples of each kind")
    parser.add_argument("--under", default="", help="only paths that contain this text")
    options = parser.parse_args()
    samples = [sample for path in source_files(options.under) for sample in samples_of(path)]
    chooser = random.Random(options.seed)
    for public in (True, False):
        chosen = [sample for sample in samples if sample.public is public]
        print(f"== {'public' if public else 'private'}: {options.count} of {len(chosen)}")
        for sample in chooser.sample(chosen, min(options.count, len(chosen))):
            print(f"\n{sample.place}\n{sample.text}")
    return 0


def source_files(under: str) -> Iterator[Path]:
    for path in sorted(SOURCE.rglob("*.py")):
        if GENERATED not in path.parents and under in str(path):
            yield path


def samples_of(path: Path) -> Iterator[Sample]:
    text = path.read_text(encoding="utf-8")
    tree = ast.parse(text)
    yield from docstrings(path, tree)
    yield from log_lines(path, tree)
    yield from comments(path, text)


def docstrings(path: Path, tree: ast.Module) -> Iterator[Sample]:
    hidden_module = any(part.startswith("_") and part != "__init__.py" for part in path.parts)
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    for node in ast.walk(tree):
        if not isinstance(node, documented):
            continue
        docstring = ast.get_docstring(node)
        if docstring is not None:
            name = "" if isinstance(node, ast.Module) else node.name
            line = 1 if isinstance(node, ast.Module) else node.lineno
            public = not hidden_module and not name.startswith("_")
            yield Sample(f"{path}:{line} {name}".rstrip(), docstring, public)


def log_lines(path: Path, tree: ast.Module) -> Iterator[Sample]:
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr in LOG_METHODS
            and node.args
            and isinstance(node.args[0], ast.Constant)
            and isinstance(node.args[0].value, str)
        ):
            yield Sample(f"{path}:{node.lineno} log", node.args[0].value, public=False)


def comments(path: Path, text: str) -> Iterator[Sample]:
    """Comment blocks; directives to tools are left out."""
    block: list[str] = []
    first = 0
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            first = first or token.start[0]
            block.append(token.string.lstrip("# "))
        elif token.type != tokenize.NL and block:
            joined = " ".join(block)
            if not joined.startswith(("noqa", "type:", "pragma")):
                yield Sample(f"{path}:{first} comment", joined, public=False)
            block, first = [], 0


if __name__ == "__main__":
    sys.exit(main())
