"""Runs SQL statements from a file, an option or a pipe, or in an interactive shell.

`sql` imports this module when it runs: PySpark, sqlglot and prompt_toolkit are optional extras.

Queries that a script defines process the existing records before each SELECT and PRINT and at the
end, so a script sees the effects of its own statements. With `keep_running` the queries keep
running.

The shell has multi-line statements, history and completion. Ctrl-C stops a running query, Ctrl-D
ends the shell.
"""

import argparse
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import TextIO

from prompt_toolkit import PromptSession
from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document
from prompt_toolkit.history import FileHistory, History, InMemoryHistory
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent

from barnabas.cli.framework.connection import Connection
from barnabas.cli.framework.output import (
    DONE,
    FAILED,
    INTERRUPTED,
    JSON,
    json_line,
    json_text,
    printable,
    table_text,
)
from barnabas.cli.nouns.sql_foreground import Foreground, Interrupted, StepLine
from barnabas.model.errors import BarnabasError
from barnabas.spark.pipeline_registry import state_home
from barnabas.streams.sql.catalog import Catalog
from barnabas.streams.sql.engine.engine import Engine
from barnabas.streams.sql.engine.results import Result, Row, StreamResult, TableResult, TextResult
from barnabas.streams.sql.language.dialect import is_complete
from barnabas.streams.sql.language.errors import SqlError
from barnabas.streams.sql.language.parser import parse_statements
from barnabas.streams.sql.language.statements import Print, SelectStatement, Statement

BATCH_SECONDS = 0.2
BATCH_ROWS = 500
POLL_SECONDS = 0.5
STOP_SECONDS = 3.0
"""How long Ctrl-C waits for the statement of a script, before Spark is stopped."""
_KEYWORDS = """
SELECT|FROM|WHERE|GROUP BY|HAVING|PARTITION BY|ORDER BY|LIMIT|EMIT CHANGES|EMIT FINAL
CREATE STREAM|CREATE TABLE|CREATE OR REPLACE|IF NOT EXISTS|AS SELECT|WITH (|PRIMARY KEY|KEY
INSERT INTO|VALUES|WINDOW TUMBLING (SIZE|WINDOW HOPPING (SIZE|WINDOW SESSION (|ADVANCE BY
GRACE PERIOD|LEFT JOIN|INNER JOIN|FULL OUTER JOIN|WITHIN|ON|SHOW STREAMS|SHOW TABLES
SHOW TOPICS|SHOW QUERIES|DESCRIBE|EXTENDED|PRINT|FROM BEGINNING|EXPLAIN|TERMINATE
DROP STREAM|DROP TABLE|DELETE TOPIC|SET|UNSET|kafka_topic=|value_format=|key_format=
timestamp=|partitions=|COUNT(*)|SUM(|AVG(|MIN(|MAX(|LATEST_BY_OFFSET(|EARLIEST_BY_OFFSET(
COLLECT_LIST(|TOPK(|COUNT_DISTINCT(|TIMESTAMPTOSTRING(|STRINGTOTIMESTAMP(|EXTRACTJSONFIELD(
UCASE(|LCASE(|LEN(|ROWTIME|WINDOWSTART|WINDOWEND
"""
KEYWORDS = tuple(word for line in _KEYWORDS.strip().splitlines() for word in line.split("|"))
_RELATION_AFTER = {"FROM", "JOIN", "INTO", "DESCRIBE", "STREAM", "TABLE", "EXTENDED"}
HELP = """\
Statements end with a semicolon. SHOW STREAMS, TABLES, TOPICS, QUERIES; DESCRIBE name; PRINT topic;
SELECT … EMIT CHANGES follows a stream until Ctrl-C; SELECT … without it is Spark SQL on the
existing records. exit or Ctrl-D leaves; queries continue when a shell is opened again.
"""
LEAVE = ("exit", "quit")


class Printer:
    """Prints results as tables or JSON; streamed rows are printed in small batches.

    `before` is called before each output, to remove a progress line.
    """

    def __init__(self, form: str, out: TextIO, before: Callable[[], None] = lambda: None) -> None:
        self._json = form == JSON
        self._out = out
        self._before = before

    def show(self, result: Result) -> None:
        """Prints a result completely; a stream may end only by Ctrl-C."""
        if not isinstance(result, StreamResult):
            self._before()
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
                self._before()
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
    with (
        StepLine() as line,
        Engine(
            settings,
            state_dir=arguments.state_dir,
            run_queries=interactive and not arguments.no_queries,
            short_life=not interactive and not arguments.keep_running,
        ) as engine,
    ):
        foreground = Foreground(lambda: engine.activity.text, engine.interrupt, line)
        printer = Printer(arguments.format, sys.stdout, line.output)
        if text is None:
            return run_shell(engine, printer, foreground)
        work = partial(run_script, engine, text, printer, keep_running=arguments.keep_running)
        try:
            return foreground.call(work, stop_timeout_s=STOP_SECONDS)
        except Interrupted:
            return INTERRUPTED


def run_script(engine: Engine, text: str, printer: Printer, *, keep_running: bool) -> int:
    """Runs all statements and returns the exit code. The first error ends the script."""
    try:
        statements = parse_statements(text)
        for statement in statements:
            if _reads_results(statement):
                engine.run_defined()
            printer.show(engine.execute(statement))
            if engine.activity.interrupted:
                return INTERRUPTED
        if keep_running:
            return _run_until_failure(engine)
        engine.run_defined()
    except SqlError as error:
        if engine.activity.interrupted:
            return INTERRUPTED
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
    for query_id, where in engine.queries_elsewhere().items():
        sys.stderr.write(f"{query_id} runs on {where}, where its checkpoint is\n")


def candidates(before: str, catalog: Catalog, topics: Callable[[], list[str]]) -> list[str]:
    """Returns the words that can follow a text."""
    words = before.upper().replace("(", " ").replace(",", " ").split()
    typing = before[-1:] not in ("", " ", "\n", "(", ",")
    previous = words[-2 if typing else -1 :][:1] if words else []
    names = [relation.name for relation in catalog.relations]
    if previous == ["PRINT"]:
        return topics()
    if previous and previous[0] in _RELATION_AFTER:
        return names
    if previous == ["TERMINATE"]:
        return [query.query_id for query in catalog.queries]
    columns = sorted({column.name for item in catalog.relations for column in item.columns})
    return [*columns, *names, *KEYWORDS]


class SqlCompleter(Completer):
    """Adapts `candidates` to prompt_toolkit."""

    def __init__(self, catalog: Catalog, topics: Callable[[], list[str]]) -> None:
        self._catalog = catalog
        self._topics = topics

    def get_completions(
        self, document: Document, complete_event: CompleteEvent
    ) -> Iterable[Completion]:
        before = document.text_before_cursor
        word = document.get_word_before_cursor(WORD=False) if before[-1:].strip() else ""
        for text in candidates(before, self._catalog, self._topics):
            if word and text.lower().startswith(word.lower()):
                yield Completion(text, start_position=-len(word))


def run_shell(engine: Engine, printer: Printer, foreground: Foreground) -> int:
    """Reads and runs statements until the user leaves; returns the exit code."""
    _resume(engine)
    session = _session(engine)
    sys.stdout.write("barnabas sql: enter help for help, exit to leave\n")
    while True:
        try:
            text = session.prompt("sql> ", prompt_continuation="  -> ").strip()
        except KeyboardInterrupt:
            continue
        except EOFError:
            return DONE
        word = text.rstrip(";").strip().lower()
        if word in LEAVE:
            return DONE
        if word == "help":
            sys.stdout.write(HELP)
        elif text:
            do_all(engine, printer, text, foreground)


def do_all(engine: Engine, printer: Printer, text: str, foreground: Foreground) -> None:
    """Runs the statements of a text; an error or Ctrl-C ends the text, not the shell."""
    try:
        for statement in parse_statements(text):
            foreground.call(partial(_show, engine, printer, statement))
    except BarnabasError as error:
        sys.stderr.write(f"{error}\n")
    except Interrupted:
        sys.stdout.write("interrupted\n")
    with suppress(Interrupted):
        for query_id, reason in foreground.call(engine.failures).items():
            sys.stderr.write(f"{query_id} failed: {reason}\n")


def _show(engine: Engine, printer: Printer, statement: Statement) -> None:
    printer.show(engine.execute(statement))


def _resume(engine: Engine) -> None:
    """Starts the queries of the catalog in a thread, because Spark takes seconds to start."""
    engine.refresh()
    report_remote_queries(engine)
    count = len(engine.catalog.queries) - len(engine.queries_elsewhere())
    if not count or not engine.runs_queries:
        return
    sys.stderr.write(
        f"{count} quer{'y' if count == 1 else 'ies'} of earlier sessions will be resumed\n"
    )
    threading.Thread(target=_start_quietly, args=(engine,), daemon=True).start()


def _start_quietly(engine: Engine) -> None:
    try:
        engine.start_queries()
    except BarnabasError as error:
        sys.stderr.write(f"cannot resume queries: {error}\n")


def _session(engine: Engine) -> "PromptSession[str]":
    bindings = KeyBindings()

    @bindings.add("enter")
    def _(event: KeyPressEvent) -> None:
        text = event.current_buffer.text.strip()
        word = text.lower()
        if not text or word in (*LEAVE, "help") or is_complete(text):
            event.current_buffer.validate_and_handle()
        else:
            event.current_buffer.insert_text("\n")

    return PromptSession(
        history=_history(),
        completer=SqlCompleter(engine.catalog, engine.topic_names),
        complete_while_typing=False,
        key_bindings=bindings,
        multiline=True,
    )


def _history() -> History:
    path = state_home() / "sql_history"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch(0o600)
    except OSError:
        return InMemoryHistory()
    return FileHistory(str(path))
