r"""Subscription expressions (KIP-848): RE2's syntax, matched against whole topic names.

Supported: literals, `.`, classes with ranges, `\d \w \s` and POSIX names, groups (also named and
`(?i:)`), alternation, repetition (greedy or not: for a yes-or-no answer that is the same),
anchors. As in RE2 there are no back-references and no look-around.
"""

from collections.abc import Callable

from barnabas.groups.consumer.automaton import Automaton, CharTest, Fragment
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BrokerError

MAX_LENGTH = 1_000
_MAX_REPEAT = 1_000  # RE2's own bound
_MAX_DEPTH = 100

_Again = Callable[[], Fragment]

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


class TopicRegex:
    """A compiled expression; calling it tells whether it matches a whole name."""

    __slots__ = ("_automaton", "_whole")

    def __init__(self, automaton: Automaton, whole: Fragment) -> None:
        self._automaton = automaton
        self._whole = whole

    def __call__(self, name: str) -> bool:
        return self._automaton.matches(self._whole, name)


def compile_topic_regex(pattern: str) -> TopicRegex:
    """Raises BrokerError(INVALID_REGULAR_EXPRESSION) for what is no valid expression.

    >>> matches = compile_topic_regex("orders-(eu|us)-[0-9]+")
    >>> matches("orders-eu-17"), matches("orders-eu-17-dlq")
    (True, False)
    """
    if len(pattern) > MAX_LENGTH:
        raise _invalid(f"an expression has at most {MAX_LENGTH} characters")
    parser = _Parser(pattern)
    whole = parser.parse()
    return TopicRegex(parser.automaton, whole)


def _invalid(message: str) -> BrokerError:
    return BrokerError(ErrorCode.INVALID_REGULAR_EXPRESSION, message)


class _Parser:
    """Recursive descent; a repeated piece is parsed again for every copy it needs."""

    def __init__(self, pattern: str) -> None:
        self.automaton = Automaton()
        self._pattern = pattern
        self._pos = 0
        self._ignore_case = False
        self._depth = 0

    def parse(self) -> Fragment:
        whole = self._alternation()
        if self._pos < len(self._pattern):
            raise _invalid(f"unexpected ) at {self._pos}")
        return whole

    def _peek(self, text: str) -> bool:
        return self._pattern.startswith(text, self._pos)

    def _accept(self, text: str) -> bool:
        found = self._peek(text)
        if found:
            self._pos += len(text)
        return found

    def _next(self) -> str:
        if self._pos >= len(self._pattern):
            raise _invalid("the expression ends too early")
        self._pos += 1
        return self._pattern[self._pos - 1]

    def _alternation(self) -> Fragment:
        options = [self._concatenation()]
        while self._accept("|"):
            options.append(self._concatenation())
        return options[0] if len(options) == 1 else self.automaton.choice(options)

    def _concatenation(self) -> Fragment:
        result = self.automaton.empty()
        while self._pos < len(self._pattern) and not self._peek("|") and not self._peek(")"):
            result = self.automaton.sequence(result, self._repetition())
        return result

    def _repetition(self) -> Fragment:
        start, ignore_case = self._pos, self._ignore_case
        atom = self._atom()
        end = self._pos
        low, high = self._quantifier()
        if (low, high) == (1, 1):
            return atom
        after, kept_case = self._pos, self._ignore_case

        def again() -> Fragment:
            self._pos, self._ignore_case = start, ignore_case
            fragment = self._atom()
            assert self._pos == end
            return fragment

        result = self._repeat(atom, again, low, high)
        self._pos, self._ignore_case = after, kept_case
        return result

    def _repeat(self, atom: Fragment, again: _Again, low: int, high: int | None) -> Fragment:
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
        bounds: tuple[int, int | None] = (1, 1)
        if self._accept("*"):
            bounds = (0, None)
        elif self._accept("+"):
            bounds = (1, None)
        elif self._accept("?"):
            bounds = (0, 1)
        elif self._peek("{"):
            bounds = self._counts()
        if bounds == (1, 1):
            return bounds
        self._accept("?")
        again = self._peek("{") and self._counts() != (1, 1)
        if again or any(self._peek(sign) for sign in "*+?"):
            raise _invalid(f"repetition of a repetition at {self._pos}")
        return bounds

    def _counts(self) -> tuple[int, int | None]:
        """`{m}`, `{m,}` or `{m,n}`; anything else is a literal brace, as in RE2."""
        close = self._pattern.find("}", self._pos)
        inside = self._pattern[self._pos + 1 : close] if close > 0 else ""
        low_text, comma, high_text = inside.partition(",")
        if not _is_number(low_text) or (high_text and not _is_number(high_text)):
            return 1, 1
        low = int(low_text)
        high = int(high_text) if high_text else None if comma else low
        if low > _MAX_REPEAT or (high is not None and not low <= high <= _MAX_REPEAT):
            raise _invalid(f"bad repetition {{{inside}}}")
        self._pos = close + 1
        return low, high

    def _atom(self) -> Fragment:
        char = self._next()
        match char:
            case "(":
                return self._group()
            case "[":
                return self.automaton.char(self._folded(self._char_class()))
            case ".":
                return self.automaton.char(lambda one: one != "\n")
            case "^":
                return self.automaton.text_start()
            case "$":
                return self.automaton.text_end()
            case "\\":
                return self._escape()
            case "*" | "+" | "?":
                raise _invalid(f"nothing to repeat at {self._pos - 1}")
        return self._literal(char)

    def _literal(self, char: str) -> Fragment:
        return self.automaton.char(self._folded(lambda one: one == char))

    def _folded(self, test: CharTest) -> CharTest:
        if not self._ignore_case:
            return test
        return lambda one: test(one.lower()) or test(one.upper())

    def _group(self) -> Fragment:
        self._depth += 1
        if self._depth > _MAX_DEPTH:
            raise _invalid("groups are nested too deeply")
        outer_case = self._ignore_case
        if self._accept("?") and self._group_head():
            # `(?i)` has no body: its flags hold for the rest of the enclosing group.
            self._depth -= 1
            return self.automaton.empty()
        inner = self._alternation()
        if not self._accept(")"):
            raise _invalid("missing )")
        self._ignore_case = outer_case
        self._depth -= 1
        return inner

    def _group_head(self) -> bool:
        """Read what follows `(?`; whether the group ends with it."""
        if self._accept("P<") or (self._peek("<") and not self._peek("<=") and self._accept("<")):
            name = self._until(">")
            if not name.isidentifier():
                raise _invalid(f"bad group name {name!r}")
            return False
        value = True
        while True:
            match self._next():
                case ":":
                    return False
                case ")":
                    return True
                case "-":
                    value = False
                case "i":
                    self._ignore_case = value
                case "s" | "m" | "U":
                    pass  # names have one line and answers are yes or no: these change nothing
                case other:
                    raise _invalid(f"(?{other} is not supported")

    def _until(self, end: str) -> str:
        close = self._pattern.find(end, self._pos)
        if close < 0:
            raise _invalid(f"missing {end}")
        text = self._pattern[self._pos : close]
        self._pos = close + 1
        return text

    def _escape(self) -> Fragment:
        char = self._next()
        if char == "A":
            return self.automaton.text_start()
        if char == "z":
            return self.automaton.text_end()
        if char == "Q":
            return self._quoted()
        return self.automaton.char(self._folded(self._escaped(char)))

    def _quoted(self) -> Fragment:
        end = self._pattern.find("\\E", self._pos)
        text = self._pattern[self._pos : end] if end >= 0 else self._pattern[self._pos :]
        self._pos = end + 2 if end >= 0 else len(self._pattern)
        result = self.automaton.empty()
        for char in text:
            result = self.automaton.sequence(result, self._literal(char))
        return result

    def _escaped(self, char: str) -> CharTest:
        """The test of an escape that stands for one character."""
        if char.lower() in _ESCAPED_SETS:
            members = _ESCAPED_SETS[char.lower()]
            negated = char.isupper()
            return lambda one: (one in members) != negated
        if char in _CONTROL_ESCAPES:
            meant = _CONTROL_ESCAPES[char]
        elif char == "x":
            meant = self._hex()
        elif char.isascii() and not char.isalnum():
            meant = char
        else:
            raise _invalid(f"\\{char} is not supported")
        return lambda one: one == meant

    def _hex(self) -> str:
        digits = self._until("}") if self._accept("{") else self._next() + self._next()
        try:
            return chr(int(digits, 16))
        except (ValueError, OverflowError):
            raise _invalid(f"\\x{digits} is no character") from None

    def _char_class(self) -> CharTest:
        negated = self._accept("^")
        tests: list[CharTest] = []
        while not tests or not self._peek("]"):
            tests.append(self._class_item())
        self._next()
        return lambda one: any(test(one) for test in tests) != negated

    def _class_item(self) -> CharTest:
        if self._accept("[:"):
            negated = self._accept("^")
            name = self._until(":")
            if name not in _POSIX_SETS or not self._accept("]"):
                raise _invalid(f"unknown class [:{name}:]")
            members = _POSIX_SETS[name]
            return lambda one: (one in members) != negated
        low = self._next()
        if low == "\\":
            escaped = self._next()
            if escaped.lower() in _ESCAPED_SETS:
                return self._escaped(escaped)
            low = self._plain(escaped)
        if not self._peek("-") or self._peek("-]"):
            return lambda one: one == low
        self._next()
        high = self._next()
        high = self._plain(self._next()) if high == "\\" else high
        if high < low:
            raise _invalid(f"bad range {low}-{high}")
        return lambda one: low <= one <= high

    def _plain(self, escaped: str) -> str:
        """The character that an escape in a class stands for."""
        if escaped in _CONTROL_ESCAPES:
            return _CONTROL_ESCAPES[escaped]
        if escaped == "x":
            return self._hex()
        if escaped.isascii() and not escaped.isalnum():
            return escaped
        raise _invalid(f"\\{escaped} is not supported in a class")


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= 4
