"""Reads and writes Java property files, such as Kafka's server.properties.

Comments start with # or !. A key ends at the first unescaped =, : or blank. A backslash at the end
of a line joins the next line, but does not continue a comment.
"""

import re
from collections.abc import Iterator, Mapping

from barnabas.model.errors import ConfigError

_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "f": "\f"}
_ESCAPED = {value: f"\\{letter}" for letter, value in _ESCAPES.items()} | {"\\": "\\\\"}
_SEPARATORS = "=:"
_BLANKS = " \t\f"
# Java ends a line at these only; str.splitlines() would also cut at form feeds and U+2028.
_LINE_END = re.compile(r"\r\n|\n|\r")


def parse_properties(text: str) -> dict[str, str]:
    r"""Returns the keys and values of a property file; the last line of a key wins.

    A key without a separator has an empty value, as in Java.

    Raises:
        ConfigError: A `\u` escape does not have four hexadecimal digits.

    >>> parse_properties("# a broker\nbroker.id=1\nlog.dirs = /a,\\\n   /b\n")
    {'broker.id': '1', 'log.dirs': '/a,/b'}
    """
    return dict(_split(line) for line in _logical_lines(text))


def render_properties(values: Mapping[str, object]) -> str:
    r"""Returns the text of a property file that `parse_properties` reads back.

    >>> render_properties({"log.dirs": "C:\\data", "broker.id": 1})
    'log.dirs=C:\\\\data\nbroker.id=1\n'
    """
    return "".join(
        f"{_escape(key, _SEPARATORS + _BLANKS + '#!')}={_escape_value(str(value))}\n"
        for key, value in values.items()
    )


def _logical_lines(text: str) -> Iterator[str]:
    joined: str | None = None
    for raw in _LINE_END.split(text):
        line = raw.lstrip(_BLANKS)
        if joined is None and (not line or line[0] in "#!"):
            continue
        joined = (joined or "") + line
        if (len(joined) - len(joined.rstrip("\\"))) % 2:
            joined = joined[:-1]
        else:
            yield joined
            joined = None
    if joined:
        yield joined


def _split(line: str) -> tuple[str, str]:
    position = 0
    while position < len(line) and line[position] not in _SEPARATORS + _BLANKS:
        position += 2 if line[position] == "\\" else 1
    key, rest = line[:position], line[position:].lstrip(_BLANKS)
    if rest[:1] and rest[0] in _SEPARATORS:
        rest = rest[1:].lstrip(_BLANKS)
    return _unescape(key), _unescape(rest)


def _unescape(text: str) -> str:
    if "\\" not in text:
        return text
    out = []
    characters = iter(text)
    for character in characters:
        if character != "\\":
            out.append(character)
            continue
        escaped = next(characters, "")
        if escaped == "u":
            out.append(_code_point("".join(next(characters, "") for _ in range(4))))
        else:
            out.append(_ESCAPES.get(escaped, escaped))
    return "".join(out)


def _code_point(digits: str) -> str:
    if not re.fullmatch("[0-9a-fA-F]{4}", digits):
        raise ConfigError(f"\\u{digits}: four hexadecimal digits must follow \\u")
    return chr(int(digits, 16))


def _escape(text: str, special: str) -> str:
    return "".join(
        _ESCAPED.get(char) or (f"\\{char}" if char in special else char) for char in text
    )


def _escape_value(text: str) -> str:
    """Escapes a value; blanks need a backslash only at its start."""
    stripped = text.lstrip(" ")
    return "\\ " * (len(text) - len(stripped)) + _escape(stripped, "")
