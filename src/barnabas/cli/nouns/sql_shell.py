"""The interactive SQL shell: multi-line statements, history and completion.

Ctrl-C stops a running query, Ctrl-D ends the shell.
"""

import os
import sys
import threading
from collections.abc import Callable, Iterable
from pathlib import Path

from prompt_toolkit import PromptSession
from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document
from prompt_toolkit.history import FileHistory, History, InMemoryHistory
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent

from barnabas.cli.framework.output import DONE
from barnabas.cli.nouns.sql_script import Printer, report_remote_queries
from barnabas.model.errors import BarnabasError
from barnabas.streams.sql.catalog import Catalog
from barnabas.streams.sql.engine.engine import Engine
from barnabas.streams.sql.language.dialect import is_complete
from barnabas.streams.sql.language.parser import parse_statements

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


def run_shell(engine: Engine, printer: Printer) -> int:
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
            do_all(engine, printer, text)


def do_all(engine: Engine, printer: Printer, text: str) -> None:
    """Runs the statements of a text; an error or Ctrl-C ends the text, not the shell."""
    try:
        for statement in parse_statements(text):
            printer.show(engine.execute(statement))
    except BarnabasError as error:
        sys.stderr.write(f"{error}\n")
    except KeyboardInterrupt:
        sys.stdout.write("\n")
    for query_id, reason in engine.failures().items():
        sys.stderr.write(f"{query_id} failed: {reason}\n")


def _resume(engine: Engine) -> None:
    """Starts the queries of the catalog in a thread, because Spark takes seconds to start."""
    engine.refresh()
    report_remote_queries(engine)
    count = len(engine.catalog.queries) - len(engine.elsewhere())
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
    home = os.environ.get("XDG_STATE_HOME")
    base = Path(home) if home else Path.home() / ".local" / "state"
    path = base / "barnabas" / "sql_history"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch(0o600)
    except OSError:
        return InMemoryHistory()
    return FileHistory(str(path))
