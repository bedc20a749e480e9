"""Runs SQL statements from a file, an option or a pipe, and prints results.

`sql` imports this module when it runs: PySpark and sqlglot are optional extras.

Queries that the script defines process the existing records before each SELECT and PRINT and at
the end, so a script sees the effects of its own statements. With `keep_running` the queries keep
running.
"""

import argparse
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import TextIO

from barnabas.cli.framework.connection import Connection
from barnabas.cli.framework.output import (
    DONE,
    FAILED,
    JSON,
    json_line,
    json_text,
    printable,
    table_text,
)
from barnabas.cli.framework.verbs import load
from barnabas.streams.sql.engine.engine import Engine
from barnabas.streams.sql.engine.results import Result, Row, StreamResult, TableResult, TextResult
from barnabas.streams.sql.language.errors import SqlError
from barnabas.streams.sql.language.parser import parse_statements
from barnabas.streams.sql.language.statements import Print, SelectStatement, Statement

BATCH_SECONDS = 0.2
BATCH_ROWS = 500
POLL_SECONDS = 0.5


class Printer:
    """Prints results as tables or JSON; streamed rows are printed in small batches."""

    def __init__(self, form: str, out: TextIO) -> None:
        self._json = form == JSON
        self._out = out

    def show(self, result: Result) -> None:
        """Prints a result completely; a stream may end only by Ctrl-C."""
        match result:
            case TextResult():
                self._message(result)
            case TableResult():
                self._table(result)
            case StreamResult():
                self._stream(result)
        self._out.flush()

    def _message(self, result: TextResult) -> None:
        if self._json:
            self._out.write(json_line({"message": result.text, "query": result.query_id}) + "\n")
        else:
            self._out.write(f"{printable(result.text)}\n")

    def _table(self, result: TableResult) -> None:
        if self._json:
            self._out.write(json_text([dict(row) for row in result.rows]) + "\n")
        else:
            self._out.write(table_text(_plain(result.rows), result.columns))

    def _stream(self, result: StreamResult) -> None:
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
    """Groups rows that are ready at the same time, to align them; a row never waits for others."""
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


def _plain(rows: Sequence[Row]) -> list[dict[str, object]]:
    return [
        {name: str(value) if isinstance(value, float) else value for name, value in row.items()}
        for row in rows
    ]


def run_sql(arguments: argparse.Namespace, settings: Mapping[str, str], text: str | None) -> int:
    """Runs the statements of a script, or the interactive shell when there is none."""
    interactive = text is None
    Connection(settings).admin().close()  # reports an unreachable cluster before Spark starts
    with Engine(
        settings,
        state_dir=arguments.state_dir,
        run_queries=interactive and not arguments.no_queries,
        short_life=not interactive and not arguments.keep_running,
    ) as engine:
        printer = Printer(arguments.format, sys.stdout)
        if text is None:
            return int(load("barnabas.cli.nouns.sql_shell").run_shell(engine, printer))
        return run_script(engine, text, printer, keep_running=arguments.keep_running)


def run_script(engine: Engine, text: str, printer: Printer, *, keep_running: bool) -> int:
    """Runs all statements and returns the exit code. The first error ends the script."""
    try:
        statements = parse_statements(text)
        for statement in statements:
            if _reads_results(statement):
                engine.run_defined()
            printer.show(engine.execute(statement))
        if keep_running:
            return _run_until_failure(engine)
        engine.run_defined()
    except SqlError as error:
        sys.stdout.flush()
        sys.stderr.write(f"barnabas sql: {error}\n")
        return FAILED
    return DONE


def _reads_results(statement: Statement) -> bool:
    if isinstance(statement, SelectStatement):
        return statement.query.emit is None
    return isinstance(statement, Print) and statement.from_beginning


def _run_until_failure(engine: Engine) -> int:
    """Runs every query of the catalog until one fails or the user presses Ctrl-C."""
    count = engine.start_queries()
    sys.stderr.write(f"{count} quer{'y runs' if count == 1 else 'ies run'}; Ctrl-C ends\n")
    report_remote_queries(engine)
    pause = threading.Event()
    while not engine.failures():
        pause.wait(POLL_SECONDS)
        engine.refresh()
    for query_id, reason in engine.failures().items():
        sys.stderr.write(f"barnabas sql: {query_id} failed: {reason}\n")
    return FAILED


def report_remote_queries(engine: Engine) -> None:
    """Reports the queries with checkpoints in another state directory; they run only there."""
    for query_id, where in engine.elsewhere().items():
        sys.stderr.write(f"{query_id} runs on {where}, where its checkpoint is\n")
