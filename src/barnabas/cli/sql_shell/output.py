"""Answers of statements as text: tables for people, JSON for programs.

A table is one piece; rows that keep coming are printed as they come, under one heading, or as a
JSON document per line.
"""

import time
from collections.abc import Iterator, Sequence
from typing import Any, TextIO

from barnabas.cli.framework.render import JSON, json_line, json_text, printable, table_text
from barnabas.streams.sql.engine.results import Message, Result, Row, Streamed, Table

BATCH_SECONDS = 0.2
BATCH_ROWS = 500


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
