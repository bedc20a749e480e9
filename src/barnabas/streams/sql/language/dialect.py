"""Our SQL: Spark's, with ksqlDB's words on top.

sqlglot reads and writes it. Differences from Spark's grammar:

- a quote within a string may be doubled (`'it''s'`);
- `->` reads a field of a struct; a lambda is written with `=>` (both work inside the functions
  that take lambdas);
- `BYTES` is a type.

Clauses that sqlglot does not know (WINDOW TUMBLING, WITHIN, EMIT, PARTITION BY) are taken out of
the text by `query_parser` before the rest is handed to sqlglot.
"""

from typing import ClassVar

from sqlglot import TokenType
from sqlglot.dialects.spark import Spark


class BarnabasSql(Spark):
    """The dialect as sqlglot wants it."""

    class Tokenizer(Spark.Tokenizer):
        STRING_ESCAPES: ClassVar[list[str]] = ["'", "\\"]
        # sqlglot would swallow the rest of a SHOW or EXPLAIN as one string.
        COMMANDS: ClassVar[set[TokenType]] = set()
        KEYWORDS = {**Spark.Tokenizer.KEYWORDS, "BYTES": TokenType.BINARY}  # noqa: RUF012
