"""Errors of SQL statements, with the position in the text and a caret below it.

line 2, column 8: no column 'pag' in PAGEVIEWS; did you mean 'page'?
  SELECT pag FROM pageviews
         ^
"""

from barnabas.model.errors import LocalError


class SqlError(LocalError):
    """A statement cannot be parsed or executed; the message has the reason and the remedy."""

    def __init__(self, reason: str, text: str | None = None, position: int | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.text = text
        self.position = position

    @property
    def line(self) -> int | None:
        """The line, counted from 1."""
        if self.text is None or self.position is None:
            return None
        return self.text.count("\n", 0, self.position) + 1

    @property
    def column(self) -> int | None:
        """The column, counted from 1."""
        if self.text is None or self.position is None:
            return None
        return self.position - (self.text.rfind("\n", 0, self.position) + 1) + 1

    def __str__(self) -> str:
        if self.text is None or self.position is None or self.column is None:
            return self.reason
        begin = self.position - self.column + 1
        end = self.text.find("\n", begin)
        shown = self.text[begin : end if end >= 0 else len(self.text)].replace("\t", " ")
        pointer = " " * (self.column - 1) + "^"
        return f"line {self.line}, column {self.column}: {self.reason}\n  {shown}\n  {pointer}"


class UnsupportedError(SqlError):
    """A streaming query cannot do this; the message has the reason and the remedy."""
