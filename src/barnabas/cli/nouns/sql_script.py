"""Statements that are all there: from a file, a flag or a pipe.

Queries that were defined process what is there, before each SELECT and PRINT and at the end, so a
script sees the effects of its own lines and then ends. `keep_running` lets them run on instead.
"""

import sys
import time
from collections.abc import Iterator, Sequence
from typing import Any, TextIO

from barnabas.cli.framework.exit_codes import DONE, FAILED
from barnabas.cli.framework.render import JSON, json_line, json_text, printable, table_text
from barnabas.streams.sql.engine.engine import Engine
from barnabas.streams.sql.engine.results import Message, Result, Row, Streamed, Table
from barnabas.streams.sql.language.errors import SqlError
from barnabas.streams.sql.language.parser import parse_statements
from barnabas.streams.sql.language.statements import Print, Select, Statement

BATCH_SECONDS = 0.2
BATCH_ROWS = 500
POLL_SECONDS = 0.5


class Printer:
    """Prints answers; `format` is table or json."""

    def __init__(self, form: str, out: TextIO) -> None:
        self._json = form == JSON
        self._out = out

    def show(self, result: Result) -> None:
        """Print an answer to its end; a stream's may have none but Ctrl-C."""
        match result:
            case Message():
                self._message(result)
            case Table():
                self._table(result)
            case Streamed():
                self._stream(result)
        self._out.flush()

    def _message(self, result: Message) -> None:
        if self._json:
            self._out.write(json_line({"message": result.text, "query": result.query_id}) + "\n")
        else:
            self._out.write(f"{printable(result.text)}\n")

    def _table(self, result: Table) -> None:
        if self._json:
            self._out.write(json_text([dict(row) for row in result.rows]) + "\n")
        else:
            self._out.write(table_text(_plain(result.rows), result.columns))

    def _stream(self, result: Streamed) -> None:
        try:
            header = not self._json
            for rows in _batches(result.rows):
                if self._json:
                    self._out.writelines(json_line(dict(row)) + "\n" for row in rows)
                else:
                    self._out.write(table_text(_plain(rows), result.columns, header=header))
                    header = False
                self._out.flush()
        finally:
            result.close()


def _batches(rows: Iterator[Row]) -> Iterator[list[Row]]:
    """Rows that come close together, to be aligned together; a row is never kept waiting."""
    ready = getattr(rows, "ready", lambda: False)
    for first in rows:
        batch = [first]
        begun = time.monotonic()
        while len(batch) < BATCH_ROWS and ready() and time.monotonic() - begun < BATCH_SECONDS:
            row = next(rows, None)
            if row is None:
                break
            batch.append(row)
        yield batch


def _plain(rows: Sequence[Row]) -> list[dict[str, Any]]:
    return [
        {name: str(value) if isinstance(value, float) else value for name, value in row.items()}
        for row in rows
    ]


def run_script(engine: Engine, text: str, printer: Printer, *, keep_running: bool) -> int:
    """Do all statements; returns the exit code. The first error ends the script."""
    try:
        statements = parse_statements(text)
        for statement in statements:
            if _looks_at_results(statement):
                engine.run_defined()
            printer.show(engine.execute(statement))
        if keep_running:
            return _stay(engine)
        engine.run_defined()
    except SqlError as error:
        sys.stdout.flush()
        sys.stderr.write(f"barnabas sql: {error}\n")
        return FAILED
    return DONE


def _looks_at_results(statement: Statement) -> bool:
    if isinstance(statement, Select):
        return statement.query.emit is None
    return isinstance(statement, Print) and statement.from_beginning


def _stay(engine: Engine) -> int:
    """Run every query of the catalog until one fails, or Ctrl-C."""
    import threading

    count = engine.start_queries()
    sys.stderr.write(f"{count} quer{'y runs' if count == 1 else 'ies run'}; Ctrl-C ends\n")
    tell_elsewhere(engine)
    pause = threading.Event()
    while not engine.failures():
        pause.wait(POLL_SECONDS)
        engine.refresh()
    for query_id, reason in engine.failures().items():
        sys.stderr.write(f"barnabas sql: {query_id} failed: {reason}\n")
    return FAILED


def tell_elsewhere(engine: Engine) -> None:
    """Name the queries whose checkpoints are in another state directory: they run there only."""
    for query_id, where in engine.elsewhere().items():
        sys.stderr.write(f"{query_id} runs on {where}, where its checkpoint is\n")
