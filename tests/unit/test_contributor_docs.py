"""The pages for contributors name only files, directories and code that exist."""

import re
from functools import cache
from pathlib import Path

import pytest

from barnabas.streams.sql.translation.expressions import TEMPLATES

ROOT = Path(__file__).parents[2]
CODE_DIRECTORIES = ("src", "codegen", "schemas", "scripts", "tests", "examples", "benchmarks")
PAGES = ("ARCHITECTURE.md", "CONTRIBUTING.md", *sorted((ROOT / "docs/develop").glob("*.md")))
GUIDES = tuple(sorted((ROOT / "docs/develop").glob("add-*.md")))
ELSEWHERE = {
    "common/message/": "in Kafka's jar",
    "build/console/name.png": "written by a test",
}
CODE_SPAN = re.compile(r"`([^`\n]+)`")
FILE = re.compile(r"[\w./-]+\.(py|pxd|md|msg|txt|toml|yml)")
DIRECTORY = re.compile(r"[\w-]+(/[\w.-]+)*/[\w.-]*")
NAME = re.compile(r"_?[A-Za-z]\w*(\.\w+)*(\(.*\))?")


@cache
def known_paths() -> frozenset[str]:
    """Every file and directory with code, and the pages, relative to the repository."""
    paths = [ROOT / name for name in CODE_DIRECTORIES]
    paths += [path for directory in paths for path in directory.rglob("*")]
    paths += [*ROOT.glob("*"), *(ROOT / "docs").rglob("*"), ROOT / ".ci"]
    names = {path.relative_to(ROOT).as_posix() for path in paths}
    # A module may be named without its suffix.
    return frozenset(names | {name.removesuffix(".py") for name in names})


@cache
def known_words() -> frozenset[str]:
    """Every word of the code."""
    files = [path for name in CODE_DIRECTORIES for path in (ROOT / name).rglob("*.py")]
    texts = (path.read_text(encoding="utf-8") for path in files if "wire/messages" not in str(path))
    return frozenset(word for text in texts for word in re.findall(r"\w+", text))


def exists(path: str) -> bool:
    path = path.rstrip("/")
    return any(known == path or known.endswith(f"/{path}") for known in known_paths())


def code_spans(page: Path) -> set[str]:
    return set(CODE_SPAN.findall((ROOT / page).read_text(encoding="utf-8"))) - ELSEWHERE.keys()


@pytest.mark.parametrize("page", [Path(page) for page in PAGES], ids=lambda page: page.name)
def test_paths_exist(page: Path) -> None:
    spans = code_spans(page)
    paths = {span for span in spans if FILE.fullmatch(span) or DIRECTORY.fullmatch(span)}
    assert {path for path in paths if not exists(path)} == set()


@pytest.mark.parametrize("page", GUIDES, ids=lambda page: page.name)
def test_names_exist(page: Path) -> None:
    names = {span for span in code_spans(page) if NAME.fullmatch(span) and not FILE.fullmatch(span)}
    words = {word for name in names for word in re.findall(r"\w+", name.partition("(")[0])}
    assert words - known_words() == set()


def test_the_page_of_sql_lists_every_translated_function():
    page = (ROOT / "docs/sql.md").read_text(encoding="utf-8")
    listed = re.findall(r"`([A-Z_]+)`", page)
    assert sorted(set(TEMPLATES) - set(listed)) == []
