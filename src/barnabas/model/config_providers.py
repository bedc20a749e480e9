"""Resolves references to secrets in a configuration file (KIP-297).

    sasl.jaas.config=... password="${env:BROKER_PASSWORD}";
    ssl.key.password=${file:/etc/barnabas/secrets.properties:key.password}
    ssl.keystore.key=${directory:/run/secrets:broker.pem}

Only configuration files of the operator are resolved, never values that a client sends: otherwise a
client could read any file of the broker (CVE-2024-31141).
"""

import re
from collections.abc import Callable, Mapping
from pathlib import Path

from barnabas.model.errors import ConfigError
from barnabas.model.properties import parse_properties

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
                return _looked_up(sources[kinds[provider]], kinds[provider], path, name)
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


def _looked_up(source: Callable[[str, str], str], kind: str, path: str, name: str) -> str:
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
