"""Subscription expressions (KIP-848): RE2's syntax, matched against whole topic names.

Supported: literals, `.`, classes with ranges, `\\d \\w \\s` and POSIX names, groups (also named and
`(?i:)`), alternation, repetition (greedy or not: both match the same names), anchors. As in RE2
there are no back-references and no look-around.
"""

from collections.abc import Callable

from barnabas.groups.consumer.regex_automaton import Automaton, CharTest, NfaFragment
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BrokerError

_DIGITS = frozenset("0123456789")
_LOWER = frozenset("abcdefghijklmnopqrstuvwxyz")
_UPPER = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZ")
_WORD = _DIGITS | _LOWER | _UPPER | {"_"}
_SPACE = frozenset(" \t\n\r\f\v")
_PUNCT = frozenset("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~")
_ESCAPED_SETS = {"d": _DIGITS, "w": _WORD, "s": _SPACE}
_POSIX_SETS = {
    "alnum": _DIGITS | _LOWER | _UPPER,
    "alpha": _LOWER | _UPPER,
    "digit": _DIGITS,
    "lower": _LOWER,
    "punct": _PUNCT,
    "space": _SPACE,
    "upper": _UPPER,
    "word": _WORD,
    "xdigit": _DIGITS | frozenset("abcdefABCDEF"),
}
_CONTROL_ESCAPES = {"t": "\t", "n": "\n", "r": "\r", "f": "\f", "v": "\v", "a": "\a"}
MAX_LENGTH = 1_000
_MAX_REPEAT = 1_000  # the limit of RE2
# Nested groups are parsed recursively: Python's stack is limited.
_MAX_DEPTH = 100
_Again = Callable[[], NfaFragment]
__all__ = ["TopicRegex", "compile_topic_regex"]


def invalid(message: str) -> BrokerError:
    """Returns the error for an invalid expression."""
    return BrokerError(ErrorCode.INVALID_REGULAR_EXPRESSION, message)


class RegexCursor:
    """Reads an expression from the left; `position` can be reset to read a part again."""

    __slots__ = ("_text", "position")

    def __init__(self, text: str) -> None:
        self._text = text
        self.position = 0

    @property
    def at_end(self) -> bool:
        return self.position >= len(self._text)

    def peek(self, text: str) -> bool:
        """Whether the next characters are `text`."""
        return self._text.startswith(text, self.position)

    def accept(self, text: str) -> bool:
        """Reads `text` if it is next; returns whether it was."""
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
        """Returns the text before the next `end` without reading it; None without an `end`."""
        close = self._text.find(end, self.position)
        return None if close < 0 else self._text[self.position : close]

    def until(self, end: str) -> str:
        """Reads up to and including `end`."""
        text = self.maybe_before(end)
        if text is None:
            raise invalid(f"missing {end}")
        self.position += len(text) + len(end)
        return text

    def rest(self) -> str:
        """Reads the rest of the text."""
        text = self._text[self.position :]
        self.position = len(self._text)
        return text


def escape(cursor: RegexCursor, escaped: str) -> CharTest:
    """Returns the test of an escape, for one character or a set; `escaped` has been read."""
    if escaped.lower() in _ESCAPED_SETS:
        return _set_escape(escaped)
    literal = _escaped_char(cursor, escaped, "")
    return lambda one: one == literal


def char_class(cursor: RegexCursor) -> CharTest:
    """Returns the test of a class, whose opening bracket has been read."""
    negated = cursor.accept("^")
    tests: list[CharTest] = []
    while not tests or not cursor.peek("]"):
        tests.append(_class_item(cursor))
    cursor.next()
    return lambda one: any(test(one) for test in tests) != negated


def _class_item(cursor: RegexCursor) -> CharTest:
    if cursor.accept("[:"):
        return _posix_set(cursor)
    low = cursor.next()
    if low == "\\":
        escaped = cursor.next()
        if escaped.lower() in _ESCAPED_SETS:
            return _set_escape(escaped)
        low = _escaped_char(cursor, escaped, " in a class")
    if not cursor.peek("-") or cursor.peek("-]"):
        return lambda one: one == low
    cursor.next()
    high = cursor.next()
    high = _escaped_char(cursor, cursor.next(), " in a class") if high == "\\" else high
    if high < low:
        raise invalid(f"bad range {low}-{high}")
    return lambda one: low <= one <= high


def _posix_set(cursor: RegexCursor) -> CharTest:
    negated = cursor.accept("^")
    name = cursor.until(":")
    if name not in _POSIX_SETS or not cursor.accept("]"):
        raise invalid(f"unknown class [:{name}:]")
    members = _POSIX_SETS[name]
    return lambda one: (one in members) != negated


def _set_escape(escaped: str) -> CharTest:
    members, negated = _ESCAPED_SETS[escaped.lower()], escaped.isupper()
    return lambda one: (one in members) != negated


def _escaped_char(cursor: RegexCursor, escaped: str, where: str) -> str:
    """Returns the character that an escape means."""
    if escaped in _CONTROL_ESCAPES:
        return _CONTROL_ESCAPES[escaped]
    if escaped == "x":
        return _hex(cursor)
    if escaped.isascii() and not escaped.isalnum():
        return escaped
    raise invalid(f"\\{escaped} is not supported{where}")


def _hex(cursor: RegexCursor) -> str:
    digits = cursor.until("}") if cursor.accept("{") else cursor.next() + cursor.next()
    try:
        return chr(int(digits, 16))
    except (ValueError, OverflowError):
        raise invalid(f"\\x{digits} is not a character") from None


class TopicRegex:
    """A compiled expression; a call returns whether it matches a whole name."""

    __slots__ = ("_automaton", "_whole")

    def __init__(self, automaton: Automaton, whole: NfaFragment) -> None:
        self._automaton = automaton
        self._whole = whole

    def __call__(self, name: str) -> bool:
        return self._automaton.matches(self._whole, name)


def compile_topic_regex(pattern: str) -> TopicRegex:
    """Returns the compiled expression; raises INVALID_REGULAR_EXPRESSION if it is invalid.

    >>> matches = compile_topic_regex("orders-(eu|us)-[0-9]+")
    >>> matches("orders-eu-17"), matches("orders-eu-17-dlq")
    (True, False)
    """
    if len(pattern) > MAX_LENGTH:
        raise invalid(f"an expression has at most {MAX_LENGTH} characters")
    parser = _Parser(pattern)
    whole = parser.parse()
    return TopicRegex(parser.automaton, whole)


class _Parser:
    """Recursive descent; a repeated part is parsed again for every copy."""

    def __init__(self, pattern: str) -> None:
        self.automaton = Automaton()
        self._cursor = RegexCursor(pattern)
        self._ignore_case = False
        self._depth = 0

    def parse(self) -> NfaFragment:
        whole = self._alternation()
        if not self._cursor.at_end:
            raise invalid(f"unexpected ) at {self._cursor.position}")
        return whole

    def _alternation(self) -> NfaFragment:
        options = [self._concatenation()]
        while self._cursor.accept("|"):
            options.append(self._concatenation())
        return options[0] if len(options) == 1 else self.automaton.choice(options)

    def _concatenation(self) -> NfaFragment:
        cursor, result = self._cursor, self.automaton.empty()
        while not (cursor.at_end or cursor.peek("|") or cursor.peek(")")):
            result = self.automaton.sequence(result, self._repetition())
        return result

    # Repetition

    def _repetition(self) -> NfaFragment:
        cursor = self._cursor
        start, ignore_case = cursor.position, self._ignore_case
        atom = self._atom()
        end = cursor.position
        low, high = self._quantifier()
        if (low, high) == (1, 1):
            return atom
        after, kept_case = cursor.position, self._ignore_case

        def again() -> NfaFragment:
            cursor.position, self._ignore_case = start, ignore_case
            fragment = self._atom()
            assert cursor.position == end
            return fragment

        result = self._repeat(atom, again, low, high)
        cursor.position, self._ignore_case = after, kept_case
        return result

    def _repeat(self, atom: NfaFragment, again: _Again, low: int, high: int | None) -> NfaFragment:
        automaton = self.automaton
        if high is None:
            result = automaton.star(atom)
            for _ in range(low):
                result = automaton.sequence(again(), result)
            return result
        if high == 0:
            return automaton.empty()
        result = automaton.empty()
        for index in range(high):
            copy = atom if index == 0 else again()
            copy = copy if index < low else automaton.optional(copy)
            result = automaton.sequence(result, copy)
        return result

    def _quantifier(self) -> tuple[int, int | None]:
        cursor = self._cursor
        bounds: tuple[int, int | None] = (1, 1)
        if cursor.accept("*"):
            bounds = (0, None)
        elif cursor.accept("+"):
            bounds = (1, None)
        elif cursor.accept("?"):
            bounds = (0, 1)
        elif cursor.peek("{"):
            bounds = self._counts()
        if bounds == (1, 1):
            return bounds
        cursor.accept("?")
        again = cursor.peek("{") and self._counts() != (1, 1)
        if again or any(cursor.peek(sign) for sign in "*+?"):
            raise invalid(f"repetition of a repetition at {cursor.position}")
        return bounds

    def _counts(self) -> tuple[int, int | None]:
        """Reads `{m}`, `{m,}` or `{m,n}`; any other brace is a literal, as in RE2."""
        inside = (self._cursor.maybe_before("}") or "")[1:]
        low_text, comma, high_text = inside.partition(",")
        if not _is_number(low_text) or (high_text and not _is_number(high_text)):
            return 1, 1
        low = int(low_text)
        high = int(high_text) if high_text else None if comma else low
        if low > _MAX_REPEAT or (high is not None and not low <= high <= _MAX_REPEAT):
            raise invalid(f"bad repetition {{{inside}}}")
        self._cursor.until("}")
        return low, high

    # Atoms

    def _atom(self) -> NfaFragment:
        cursor, automaton = self._cursor, self.automaton
        char = cursor.next()
        match char:
            case "(":
                return self._group()
            case "[":
                return automaton.char(self._folded(char_class(cursor)))
            case ".":
                return automaton.char(lambda one: one != "\n")
            case "^":
                return automaton.text_start()
            case "$":
                return automaton.text_end()
            case "\\":
                return self._escape()
            case "*" | "+" | "?":
                raise invalid(f"nothing to repeat at {cursor.position - 1}")
        return self._literal(char)

    def _literal(self, char: str) -> NfaFragment:
        return self.automaton.char(self._folded(lambda one: one == char))

    def _folded(self, test: CharTest) -> CharTest:
        if not self._ignore_case:
            return test
        return lambda one: test(one.lower()) or test(one.upper())

    def _escape(self) -> NfaFragment:
        char = self._cursor.next()
        if char == "A":
            return self.automaton.text_start()
        if char == "z":
            return self.automaton.text_end()
        if char == "Q":
            return self._quoted()
        return self.automaton.char(self._folded(escape(self._cursor, char)))

    def _quoted(self) -> NfaFragment:
        cursor = self._cursor
        ends = cursor.maybe_before("\\E") is not None
        text = cursor.until("\\E") if ends else cursor.rest()
        result = self.automaton.empty()
        for char in text:
            result = self.automaton.sequence(result, self._literal(char))
        return result

    # Groups

    def _group(self) -> NfaFragment:
        self._depth += 1
        if self._depth > _MAX_DEPTH:
            raise invalid("groups are nested too deeply")
        outer_case = self._ignore_case
        if self._cursor.accept("?") and self._group_head():
            # `(?i)` has no body: its flags hold for the rest of the enclosing group.
            self._depth -= 1
            return self.automaton.empty()
        inner = self._alternation()
        if not self._cursor.accept(")"):
            raise invalid("missing )")
        self._ignore_case = outer_case
        self._depth -= 1
        return inner

    def _group_head(self) -> bool:
        """Reads the flags after `(?`; returns whether the group ends with them."""
        cursor = self._cursor
        if cursor.accept("P<") or (not cursor.peek("<=") and cursor.accept("<")):
            name = cursor.until(">")
            if not name.isidentifier():
                raise invalid(f"bad group name {name!r}")
            return False
        value = True
        while True:
            match cursor.next():
                case ":":
                    return False
                case ")":
                    return True
                case "-":
                    value = False
                case "i":
                    self._ignore_case = value
                case "s" | "m" | "U":
                    pass  # without effect: names have one line, and the result is a boolean
                case other:
                    raise invalid(f"(?{other} is not supported")


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= 4
