"""Runs one bounded SQL statement in a child process.

The statement runs as `barnabas sql --format json`: Spark needs a JVM and some hundred megabytes,
which the console must not hold. Statements that change something, and queries without an end, are
rejected before a process is started. One statement runs at a time; the process ends with the
request. The connection settings are passed in a file that only this user can read, because other
users of the machine can see command lines.
"""

import asyncio
import json
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from barnabas.console.models.pipelines import SqlBody, SqlResultBody
from barnabas.model.errors import DeadlineError, LocalError

TIMEOUT_S = 120.0
_READS = frozenset({"SELECT", "WITH", "SHOW", "LIST", "DESCRIBE", "EXPLAIN"})
_MAX_OUTPUT = 64 << 20


class SqlService:
    """Starts and ends the child process."""

    def __init__(self, settings: Mapping[str, str], timeout_s: float = TIMEOUT_S) -> None:
        self._settings = settings
        self._timeout_s = timeout_s
        self._busy = False

    async def run(self, body: SqlBody) -> SqlResultBody:
        """Returns the rows of a statement.

        Raises:
            LocalError: The statement is not bounded, is wrong, or another one is running.
            DeadlineError: The statement takes too long; it was ended.
        """
        check_bounded(body.statement)
        if self._busy:
            raise LocalError("another statement is running; try again when it has ended")
        self._busy = True
        started = time.monotonic()
        try:
            output = await self._execute(body.statement)
        finally:
            self._busy = False
        return result_of(output, body.limit, time.monotonic() - started)

    async def _execute(self, statement: str) -> bytes:
        with tempfile.TemporaryDirectory(prefix="barnabas-console-") as directory:
            config = Path(directory) / "client.properties"
            config.touch(mode=0o600)
            config.write_text(properties_text(self._settings), encoding="utf-8")
            process = await asyncio.create_subprocess_exec(
                sys.executable,
                *("-m", "barnabas.cli.main", "sql", "--format", "json", "--no-queries"),
                *("--command-config", str(config), "-e", statement),
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
            )
            try:
                async with asyncio.timeout(self._timeout_s):
                    output, errors = await process.communicate()
            except TimeoutError:
                raise DeadlineError(
                    f"the statement did not end within {self._timeout_s:g} s"
                ) from None
            finally:
                if process.returncode is None:
                    process.kill()
                    await process.wait()
        if process.returncode != 0:
            raise LocalError(_error_text(errors))
        return output


def check_bounded(statement: str) -> None:
    """Raises LocalError for a statement that changes something or has no end."""
    words = statement.split(None, 1)
    first = words[0].upper().rstrip(";") if words else ""
    if first not in _READS:
        allowed = ", ".join(sorted(_READS))
        raise LocalError(
            f"the console runs only {allowed}; run other statements with `barnabas sql`"
        )
    normal = " ".join(statement.upper().split())
    if "EMIT CHANGES" in normal:
        raise LocalError(
            "EMIT CHANGES has no end: leave it out to read the existing rows, or use `barnabas sql`"
        )
    if ";" in statement.strip().rstrip(";"):
        raise LocalError("one statement at a time")


def properties_text(settings: Mapping[str, str]) -> str:
    """Returns the settings as a properties file."""
    return "".join(f"{key}={_escaped(str(value))}\n" for key, value in settings.items())


def _escaped(value: str) -> str:
    return value.replace("\\", "\\\\").replace("\n", "\\n").replace("\r", "\\r")


def result_of(output: bytes, limit: int, seconds: float) -> SqlResultBody:
    """Returns the rows of the JSON that `barnabas sql` prints: a list, or an object per line."""
    if len(output) > _MAX_OUTPUT:
        raise LocalError("the result has more than 64 MiB: select fewer rows or columns")
    values = _values(output.decode("utf-8", "replace"))
    message = None
    rows: list[dict[str, Any]] = []
    for value in values:
        if set(value) == {"message", "query"}:
            message = str(value["message"])
        else:
            rows.append(value)
    columns = list(dict.fromkeys(key for row in rows[:limit] for key in row))
    return SqlResultBody(
        columns=columns,
        rows=rows[:limit],
        truncated=len(rows) > limit,
        seconds=round(seconds, 3),
        message=message,
    )


def _values(text: str) -> list[dict[str, Any]]:
    decoder = json.JSONDecoder()
    found: list[dict[str, Any]] = []
    position = 0
    text = text.strip()
    while position < len(text):
        value, position = decoder.raw_decode(text, position)
        found += value if isinstance(value, list) else [value]
        while position < len(text) and text[position].isspace():
            position += 1
    return found


def _error_text(errors: bytes) -> str:
    lines = [line for line in errors.decode("utf-8", "replace").splitlines() if line.strip()]
    return lines[-1].removeprefix("barnabas sql: ") if lines else "the statement failed"
