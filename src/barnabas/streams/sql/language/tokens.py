"""A cursor over sqlglot's tokens, for the parts of a statement that are ours to read.

Positions are offsets into the whole text that was typed, so an error in the third statement of a
file names its line in the file.
"""

from collections.abc import Sequence
from typing import NoReturn

from sqlglot import Token, TokenType
from sqlglot.errors import TokenError

from barnabas.streams.sql.language.dialect import BarnabasSql
from barnabas.streams.sql.language.errors import SqlError


def tokenize(text: str) -> list[Token]:
    """All tokens; SqlError for text without a meaning, such as a quote that is never closed."""
    try:
        return list(BarnabasSql().tokenize(text))
    except TokenError as error:
        quote = max(text.rfind("'"), text.rfind("`"), text.rfind("/*"))
        if quote >= 0:
            raise SqlError("this is never closed", text, quote) from error
        raise SqlError(str(error), text, 0) from error


class Cursor:
    """Tokens of one statement, read from left to right."""

    def __init__(self, text: str, tokens: Sequence[Token]) -> None:
        self.text = text
        self.tokens = tokens
        self.index = 0

    @property
    def token(self) -> Token | None:
        """The token ahead; None at the end."""
        return self.tokens[self.index] if self.index < len(self.tokens) else None

    @property
    def position(self) -> int:
        """Where the token ahead begins; at the end, just behind the last one."""
        token = self.token
        if token is not None:
            return int(token.start)
        return int(self.tokens[-1].end) + 1 if self.tokens else 0

    @property
    def at_end(self) -> bool:
        return self.index >= len(self.tokens)

    def peek(self, *words: str) -> bool:
        """Whether these words are next."""
        return self._length(words) is not None

    def accept(self, *words: str) -> bool:
        """Step over these words if they are next."""
        length = self._length(words)
        if length is None:
            return False
        self.index += length
        return True

    def _length(self, words: Sequence[str]) -> int | None:
        """How many tokens these words are, if they are next; `GROUP BY` may be one token."""
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
        if not self.accept(*words):
            self.fail(f"expected {' '.join(words)}, {self.found}")

    def one_of(self, *words: str) -> str:
        """Step over one of several words and say which."""
        for word in words:
            if self.accept(word):
                return word
        self.fail(f"expected {', '.join(words[:-1])} or {words[-1]}, {self.found}")

    @property
    def found(self) -> str:
        token = self.token
        return "found the end" if token is None else f"found {token.text!r}"

    def name(self, what: str) -> str:
        """An identifier, plain or in backticks."""
        token = self.token
        if token is None or not _is_name(token):
            self.fail(f"expected {what}, {self.found}")
        self.index += 1
        return str(token.text)

    def string(self, what: str) -> str:
        """A string in quotes."""
        token = self.token
        if token is None or token.token_type is not TokenType.STRING:
            self.fail(f"expected {what} in quotes, {self.found}")
        self.index += 1
        return str(token.text)

    def number(self, what: str) -> int:
        token = self.token
        if token is None or token.token_type is not TokenType.NUMBER or not token.text.isdigit():
            self.fail(f"expected {what}, {self.found}")
        self.index += 1
        return int(token.text)

    def finish(self) -> None:
        """Nothing may be left."""
        if not self.at_end:
            self.fail(f"the statement should end here, {self.found}")

    def fail(self, reason: str) -> NoReturn:
        raise SqlError(reason, self.text, self.position)


def _is_name(token: Token) -> bool:
    if token.token_type is TokenType.IDENTIFIER:
        return True
    return token.text.replace("_", "a").replace("$", "a").isalnum() and not token.text[0].isdigit()


def statements_of(text: str) -> list[list[Token]]:
    """The tokens of each statement; what stands between two semicolons."""
    found: list[list[Token]] = [[]]
    for token in tokenize(text):
        if token.token_type is TokenType.SEMICOLON:
            found.append([])
        else:
            found[-1].append(token)
    return [tokens for tokens in found if tokens]


def is_complete(text: str) -> bool:
    """Whether a shell may run this: it ends with a semicolon, and no quote is open."""
    try:
        tokens = tokenize(text)
    except SqlError:
        return False
    return not tokens or tokens[-1].token_type is TokenType.SEMICOLON
