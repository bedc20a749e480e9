"""Statements that are all there: from a file, a flag or a pipe.

Queries that were defined process what is there, before each SELECT and PRINT and at the end, so a
script sees the effects of its own lines and then ends. `keep_running` lets them run on instead.
"""

import sys

from barnabas.cli.framework.exit_codes import DONE, FAILED
from barnabas.cli.sql_shell.output import Printer
from barnabas.streams.sql.engine.engine import Engine
from barnabas.streams.sql.language.errors import SqlError
from barnabas.streams.sql.language.parser import parse_statements
from barnabas.streams.sql.language.statements import Print, Select, Statement

POLL_SECONDS = 0.5


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
