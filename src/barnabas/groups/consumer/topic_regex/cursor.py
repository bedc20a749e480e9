"""An expression's text and how far it has been read. Pure."""

from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BrokerError


def invalid(message: str) -> BrokerError:
    """The error that refuses an expression."""
    return BrokerError(ErrorCode.INVALID_REGULAR_EXPRESSION, message)


class Cursor:
    """Reads from the left; `position` may be set back to read a piece again."""

    __slots__ = ("_text", "position")

    def __init__(self, text: str) -> None:
        self._text = text
        self.position = 0

    @property
    def at_end(self) -> bool:
        return self.position >= len(self._text)

    def peek(self, text: str) -> bool:
        """Whether `text` comes next."""
        return self._text.startswith(text, self.position)

    def accept(self, text: str) -> bool:
        """Read `text` if it comes next."""
        found = self.peek(text)
        if found:
            self.position += len(text)
        return found

    def next(self) -> str:
        if self.at_end:
            raise invalid("the expression ends too early")
        self.position += 1
        return self._text[self.position - 1]

    def maybe_before(self, end: str) -> str | None:
        """What comes before the next `end`, without reading it; None if there is no such end."""
        close = self._text.find(end, self.position)
        return None if close < 0 else self._text[self.position : close]

    def until(self, end: str) -> str:
        """Read up to `end` and over it."""
        text = self.maybe_before(end)
        if text is None:
            raise invalid(f"missing {end}")
        self.position += len(text) + len(end)
        return text

    def rest(self) -> str:
        """Read everything that is left."""
        text = self._text[self.position :]
        self.position = len(self._text)
        return text
