"""A case on disk."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from barnabas.model.errors import ConfigError

SQL, PYTHON = "case.sql", "case.py"
INPUT_KEYS = {"key", "value", "timestamp", "partition", "step", "headers"}


@dataclass(frozen=True, slots=True)
class InputRecord:
    """A record that goes in; `step` says with which others."""

    topic: str
    key: bytes | None
    value: bytes | None
    timestamp: int | None
    partition: int | None
    step: int


@dataclass(frozen=True, slots=True)
class Case:
    """A directory with a case in it."""

    path: Path

    @property
    def name(self) -> str:
        return self.path.name

    @property
    def sql(self) -> str | None:
        file = self.path / SQL
        return file.read_text(encoding="utf-8") if file.exists() else None

    @property
    def expected_error(self) -> str | None:
        file = self.path / "expected.error"
        return file.read_text(encoding="utf-8").strip() if file.exists() else None

    @property
    def expected_rows(self) -> list[dict[str, Any]] | None:
        file = self.path / "expected.jsonl"
        return [row for _, row in _lines(file)] if file.exists() else None

    def inputs(self) -> list[InputRecord]:
        """All records that go in, by step."""
        found = [
            _input(file, number, line)
            for file in sorted((self.path / "input").glob("*.jsonl"))
            for number, line in _lines(file)
        ]
        return sorted(found, key=lambda record: record.step)

    def input_topics(self) -> list[str]:
        return sorted(file.stem for file in (self.path / "input").glob("*.jsonl"))

    def expected(self) -> dict[str, list[dict[str, Any]]]:
        """What each stream, table or topic must have."""
        files = sorted((self.path / "expected").glob("*.jsonl"))
        return {file.stem: [_as_read(row) for _, row in _lines(file)] for file in files}


def find_cases(place: Path) -> list[Case]:
    """The cases below a directory, by name; ConfigError when there is none."""
    found = {file.parent for name in (SQL, PYTHON) for file in place.rglob(name)}
    if not found:
        raise ConfigError(f"{place}: no case, which is a directory with {SQL} or {PYTHON} in it")
    return [Case(path) for path in sorted(found)]


def _lines(file: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
        if not line.strip() or line.lstrip().startswith("//"):
            continue
        try:
            parsed = json.loads(line)
        except ValueError as error:
            raise ConfigError(f"{file}:{number}: {error}") from None
        if not isinstance(parsed, dict):
            raise ConfigError(f"{file}:{number}: a line is a JSON object")
        yield number, parsed


def _input(file: Path, number: int, line: dict[str, Any]) -> InputRecord:
    unknown = set(line) - INPUT_KEYS
    if unknown or "value" not in line:
        wrong = f"unknown {', '.join(sorted(unknown))}" if unknown else "no value"
        raise ConfigError(f"{file}:{number}: {wrong}; keys are {', '.join(sorted(INPUT_KEYS))}")
    return InputRecord(
        file.stem,
        encoded(line.get("key")),
        encoded(line["value"]),
        line.get("timestamp"),
        line.get("partition"),
        line.get("step", 1),
    )


def _as_read(line: dict[str, Any]) -> dict[str, Any]:
    """An expected line as a record would be read: the key "7" is the same bytes as 7."""
    again: dict[str, Any] = {
        name: decoded(encoded(line[name])) for name in ("key", "value") if name in line
    }
    return {**line, **again}


def encoded(value: Any) -> bytes | None:
    """Text as it is, all else as JSON; null stays null."""
    if value is None:
        return None
    if isinstance(value, str):
        return value.encode()
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def decoded(data: bytes | None) -> Any:
    """JSON if it is JSON, else text, else hex."""
    if data is None:
        return None
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return "0x" + data.hex()
    try:
        return json.loads(text)
    except ValueError:
        return text
