r"""What one character of a name may be: escapes such as `\d` and `\x2d`, and classes in brackets.

Each function reads its piece from the cursor and returns a test of one character. Case and the
places of characters in a name are `expression`'s business.
"""

from barnabas.groups.consumer.topic_regex.automaton import CharTest
from barnabas.groups.consumer.topic_regex.cursor import Cursor, invalid

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


def escape(cursor: Cursor, escaped: str) -> CharTest:
    """An escape that stands for one character, or one of a set; `escaped` has been read."""
    if escaped.lower() in _ESCAPED_SETS:
        return _set_escape(escaped)
    meant = _escaped_char(cursor, escaped, "")
    return lambda one: one == meant


def char_class(cursor: Cursor) -> CharTest:
    """A class, whose opening bracket has been read."""
    negated = cursor.accept("^")
    tests: list[CharTest] = []
    while not tests or not cursor.peek("]"):
        tests.append(_class_item(cursor))
    cursor.next()
    return lambda one: any(test(one) for test in tests) != negated


def _class_item(cursor: Cursor) -> CharTest:
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


def _posix_set(cursor: Cursor) -> CharTest:
    negated = cursor.accept("^")
    name = cursor.until(":")
    if name not in _POSIX_SETS or not cursor.accept("]"):
        raise invalid(f"unknown class [:{name}:]")
    members = _POSIX_SETS[name]
    return lambda one: (one in members) != negated


def _set_escape(escaped: str) -> CharTest:
    members, negated = _ESCAPED_SETS[escaped.lower()], escaped.isupper()
    return lambda one: (one in members) != negated


def _escaped_char(cursor: Cursor, escaped: str, where: str) -> str:
    """The one character that an escape stands for."""
    if escaped in _CONTROL_ESCAPES:
        return _CONTROL_ESCAPES[escaped]
    if escaped == "x":
        return _hex(cursor)
    if escaped.isascii() and not escaped.isalnum():
        return escaped
    raise invalid(f"\\{escaped} is not supported{where}")


def _hex(cursor: Cursor) -> str:
    digits = cursor.until("}") if cursor.accept("{") else cursor.next() + cursor.next()
    try:
        return chr(int(digits, 16))
    except (ValueError, OverflowError):
        raise invalid(f"\\x{digits} is no character") from None
