"""Java property files, as Kafka's server.properties are written.

Comments begin with # or !, a key ends at the first unescaped =, : or blank, a backslash at the
end of a line joins the next one.
"""

_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "f": "\f"}
_SEPARATORS = "=:"


def parse_properties(text: str) -> dict[str, str]:
    r"""The keys and values of a property file; a later line wins.

    >>> parse_properties("# a broker\nbroker.id=1\nlog.dirs = /a,\\\n   /b\n")
    {'broker.id': '1', 'log.dirs': '/a,/b'}
    """
    values = {}
    for line in _logical_lines(text):
        key, value = _split(line)
        values[key] = value
    return values


def _logical_lines(text: str) -> list[str]:
    lines = []
    joined = ""
    for raw in text.splitlines():
        stripped = raw.lstrip(" \t\f")
        if not joined and (not stripped or stripped[0] in "#!"):
            continue
        joined += stripped
        if (len(joined) - len(joined.rstrip("\\"))) % 2:
            joined = joined[:-1]
            continue
        lines.append(joined)
        joined = ""
    return [*lines, joined] if joined else lines


def _split(line: str) -> tuple[str, str]:
    position = 0
    while position < len(line) and line[position] not in _SEPARATORS + " \t\f":
        position += 2 if line[position] == "\\" else 1
    key, rest = line[:position], line[position:].lstrip(" \t\f")
    if rest[:1] and rest[0] in _SEPARATORS:
        rest = rest[1:].lstrip(" \t\f")
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
            out.append(chr(int("".join(next(characters, "0") for _ in range(4)), 16)))
        else:
            out.append(_ESCAPES.get(escaped, escaped))
    return "".join(out)
