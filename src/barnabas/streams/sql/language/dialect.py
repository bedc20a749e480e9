"""The SQL dialect (Spark SQL with ksqlDB's extensions), its tokens and durations.

sqlglot reads and writes the dialect. Differences from Spark's grammar:

- a quote within a string may be doubled (`'it''s'`);
- `->` reads a field of a struct; a lambda is written with `=>` (both work inside the functions
  that take lambdas);
- `BYTES` is a type.

`query_parser` removes the clauses that sqlglot does not support (WINDOW TUMBLING, WITHIN, EMIT,
PARTITION BY) from the text before sqlglot parses the rest. Positions are offsets into the complete
input, so an error in the third statement of a file names its line in the file.
"""

from collections.abc import Sequence
from typing import ClassVar, NoReturn

from sqlglot import Token, TokenType
from sqlglot.dialects.spark import Spark
from sqlglot.errors import TokenError

from barnabas.streams.sql.language.errors import SqlError


class BarnabasSql(Spark):
    """The dialect for sqlglot."""

    class Tokenizer(Spark.Tokenizer):
        STRING_ESCAPES: ClassVar[list[str]] = ["'", "\\"]
        # sqlglot would read the rest of a SHOW or EXPLAIN as one string.
        COMMANDS: ClassVar[set[TokenType]] = set()
        KEYWORDS = {**Spark.Tokenizer.KEYWORDS, "BYTES": TokenType.BINARY}  # noqa: RUF012


def tokenize(text: str) -> list[Token]:
    """Returns all tokens; SqlError for invalid text, such as a quote that is not closed."""
    try:
        return list(BarnabasSql().tokenize(text))
    except TokenError as error:
        quote = max(text.rfind("'"), text.rfind("`"), text.rfind("/*"))
        if quote >= 0:
            raise SqlError("this quote or comment is not closed", text, quote) from error
        raise SqlError(str(error), text, 0) from error


class TokenCursor:
    """Reads the tokens of one statement from left to right."""

    def __init__(self, text: str, tokens: Sequence[Token]) -> None:
        self.text = text
        self.tokens = tokens
        self.index = 0

    @property
    def token(self) -> Token | None:
        """The next token; None at the end."""
        return self.tokens[self.index] if self.index < len(self.tokens) else None

    @property
    def position(self) -> int:
        """The position of the next token; at the end, the position after the last token."""
        token = self.token
        if token is not None:
            return int(token.start)
        return int(self.tokens[-1].end) + 1 if self.tokens else 0

    @property
    def at_end(self) -> bool:
        return self.index >= len(self.tokens)

    def peek(self, *words: str) -> bool:
        """Returns whether these words are next."""
        return self._length(words) is not None

    def accept(self, *words: str) -> bool:
        """Skips these words if they are next; returns whether they were."""
        length = self._length(words)
        if length is None:
            return False
        self.index += length
        return True

    def _length(self, words: Sequence[str]) -> int | None:
        """Returns the number of tokens of these words if they are next; `GROUP BY` can be one
        token.
        """
        wanted = list(words)
        for count, token in enumerate(self.tokens[self.index :], 1):
            if token.token_type in (TokenType.STRING, TokenType.IDENTIFIER):
                return None
            parts = token.text.upper().split()
            if parts != wanted[: len(parts)]:
                return None
            del wanted[: len(parts)]
            if not wanted:
                return count
        return None

    def expect(self, *words: str) -> None:
        """Skips these words; SqlError if they are not next."""
        if not self.accept(*words):
            self.fail(f"expected {' '.join(words)}, {self.found}")

    def one_of(self, *words: str) -> str:
        """Skips one of several words and returns it; SqlError if none is next."""
        for word in words:
            if self.accept(word):
                return word
        self.fail(f"expected {', '.join(words[:-1])} or {words[-1]}, {self.found}")

    @property
    def found(self) -> str:
        token = self.token
        return "found the end" if token is None else f"found {token.text!r}"

    def name(self, what: str) -> str:
        """Reads an identifier, plain or in backticks."""
        token = self.token
        if token is None or not _is_name(token):
            self.fail(f"expected {what}, {self.found}")
        self.index += 1
        return str(token.text)

    def string(self, what: str) -> str:
        """Reads a quoted string."""
        token = self.token
        if token is None or token.token_type is not TokenType.STRING:
            self.fail(f"expected {what} in quotes, {self.found}")
        self.index += 1
        return str(token.text)

    def number(self, what: str) -> int:
        """Reads a whole number."""
        token = self.token
        if token is None or token.token_type is not TokenType.NUMBER or not token.text.isdigit():
            self.fail(f"expected {what}, {self.found}")
        self.index += 1
        return int(token.text)

    def finish(self) -> None:
        """Raises SqlError if there are more tokens."""
        if not self.at_end:
            self.fail(f"the statement should end here, {self.found}")

    def fail(self, reason: str) -> NoReturn:
        raise SqlError(reason, self.text, self.position)


def _is_name(token: Token) -> bool:
    if token.token_type is TokenType.IDENTIFIER:
        return True
    return token.text.replace("_", "a").replace("$", "a").isalnum() and not token.text[0].isdigit()


def statements_of(text: str) -> list[list[Token]]:
    """Returns the tokens of each statement; semicolons separate statements."""
    found: list[list[Token]] = [[]]
    for token in tokenize(text):
        if token.token_type is TokenType.SEMICOLON:
            found.append([])
        else:
            found[-1].append(token)
    return [tokens for tokens in found if tokens]


def is_complete(text: str) -> bool:
    """Returns whether a shell may run this text: it ends with a semicolon and no quote is open."""
    try:
        tokens = tokenize(text)
    except SqlError:
        return False
    return not tokens or tokens[-1].token_type is TokenType.SEMICOLON


UNITS_MS = {
    "MILLISECOND": 1,
    "SECOND": 1000,
    "MINUTE": 60_000,
    "HOUR": 3_600_000,
    "DAY": 86_400_000,
}


def parse_duration(cursor: TokenCursor) -> int:
    """Reads a number and a unit and returns milliseconds."""
    amount = cursor.number("a duration such as 30 SECONDS")
    start = cursor.index
    unit = cursor.name("a unit of time").upper().removesuffix("S")
    if unit not in UNITS_MS:
        cursor.index = start
        cursor.fail(f"unknown unit of time; units are {', '.join(UNITS_MS)}")
    return amount * UNITS_MS[unit]
