"""Reads and writes Java property files, such as server.properties, and resolves their references.

Comments start with # or !. A key ends at the first unescaped =, : or blank. A backslash at the end
of a line joins the next line, but does not continue a comment. `resolve` replaces references to
secrets (KIP-297):

    sasl.jaas.config=... password="${env:BROKER_PASSWORD}";
    ssl.key.password=${file:/etc/barnabas/secrets.properties:key.password}
    ssl.keystore.key=${directory:/run/secrets:broker.pem}

Only configuration files of the operator are resolved, never values that a client sends: otherwise a
client could read any file of the broker (CVE-2024-31141).
"""

import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

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


# --- References to secrets ------------------------------------------------------------------------


_PROVIDERS = "config.providers"
_VARIABLE = re.compile(r"\$\{([^}:$]+):(?:([^}]*?):)?([^}:]*)\}")
_CLASSES = {
    "EnvVarConfigProvider": "env",
    "FileConfigProvider": "file",
    "DirectoryConfigProvider": "directory",
}
_DEFAULTS = {"env": "env", "file": "file", "directory": "directory"}

ReadText = Callable[[Path], str]


def resolve(
    settings: Mapping[str, str], environment: Mapping[str, str], read_text: ReadText
) -> dict[str, str]:
    """Returns the settings with every `${provider:…}` replaced.

    Providers are env, file and directory; `config.providers` can define other names for them, as
    in Kafka. A reference to an unknown provider remains unchanged.

    Raises:
        ConfigError: The class of a provider is unknown, or the variable, file or key does not
            exist. The error names the setting and never contains a value.

    >>> resolve({"a": "x${env:B}"}, {"B": "1"}, Path.read_text)
    {'a': 'x1'}
    """
    kinds = _kinds(settings)
    sources: dict[str, Callable[[str, str], str]] = {
        "env": lambda path, name: _found(environment, name, f"environment variable {name}"),
        "file": lambda path, name: _found(
            parse_properties(_text(path, read_text)), name, f"{name} in {path}"
        ),
        "directory": lambda path, name: _text(str(Path(path) / name), read_text).rstrip("\n"),
    }

    def replaced(key: str, value: str) -> str:
        def replace(match: re.Match[str]) -> str:
            provider, path, name = match[1], match[2] or "", match[3]
            if provider not in kinds:
                return match[0]
            try:
                return _value_of(sources[kinds[provider]], kinds[provider], path, name)
            except ConfigError as error:
                raise ConfigError(f"{key}: {match[0]}: {error}") from None

        return _VARIABLE.sub(replace, value)

    own = (key for key in settings if key != _PROVIDERS and not key.startswith(f"{_PROVIDERS}."))
    return {key: replaced(key, settings[key]) for key in own}


def _kinds(settings: Mapping[str, str]) -> dict[str, str]:
    """Returns the kind (env, file or directory) of each provider name."""
    names = [name.strip() for name in settings.get(_PROVIDERS, "").split(",") if name.strip()]
    if not names:
        return _DEFAULTS
    kinds = {}
    for name in names:
        key = f"{_PROVIDERS}.{name}.class"
        wanted = settings.get(key, name)
        kind = _CLASSES.get(wanted.rpartition(".")[2], _DEFAULTS.get(wanted))
        if kind is None:
            known = ", ".join(_CLASSES)
            raise ConfigError(f"{key}={wanted!r}: must be one of: {known}")
        kinds[name] = kind
    return kinds


def _value_of(source: Callable[[str, str], str], kind: str, path: str, name: str) -> str:
    if kind != "env" and not path:
        raise ConfigError(f"must have the form ${{{kind}:/path:name}}")
    return source(path, name)


def _found(values: Mapping[str, str], name: str, what: str) -> str:
    if name not in values:
        raise ConfigError(f"there is no {what}")
    return values[name]


def _text(path: str, read_text: ReadText) -> str:
    try:
        return read_text(Path(path))
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise ConfigError(f"{path}: is not UTF-8 text") from None
