"""Client settings of a command, and the clients made from them.

The first source that has a key wins:

    -b / -X / --command-config     the command line
    BARNABAS_BOOTSTRAP_SERVERS     any key of a client, upper case, dots as underscores
    KAFKA_BOOTSTRAP_SERVERS        and KAFKA_BROKERS
    profile                        --profile, BARNABAS_PROFILE, or `profile = "name"` in the file

The file is BARNABAS_CONFIG or ~/.config/barnabas/config.toml:

    profile = "local"
    [profiles.local]
    "bootstrap.servers" = "localhost:9092"

A key that only another kind of client has (`linger.ms` for the admin client) is left out; a key
that no client has is an error with a suggestion. Other programs may use variables that begin with
BARNABAS_, so such a variable is an error only if its name resembles a key. An unreachable cluster
is reported immediately.
"""

import argparse
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import barnabas
from barnabas.cli.framework.verbs import closest
from barnabas.model import config_keys
from barnabas.model.errors import ConfigError, UnavailableError
from barnabas.model.properties import parse_properties, resolve

if TYPE_CHECKING:
    from barnabas.model.config import ConfigTable


DEFAULT_BOOTSTRAP = "localhost:9092"
BOOTSTRAP = "bootstrap.servers"
_PREFIX = "BARNABAS_"
_OTHER_VARIABLES = ("PROFILE", "CONFIG", "LOG_LEVEL", "STATE_DIR")
"""Variables of the commands that are not client settings."""
_TYPO_SIMILARITY = 0.85
"""difflib's ratio of two names above which one is taken for a typo of the other."""
_BROKER_VARIABLES = ("KAFKA_BOOTSTRAP_SERVERS", "KAFKA_BROKERS")
API_TIMEOUT_MS = 30_000
"""The clients' default of 60 s is too long for a command that a person waits for."""
ZOOKEEPER_CONNECT_SECONDS = 10.0


def client_settings(
    arguments: argparse.Namespace, environment: Mapping[str, str] | None = None
) -> dict[str, str]:
    """Returns the client settings of a command line, the environment and the profile."""
    variables = os.environ if environment is None else environment
    settings = {BOOTSTRAP: DEFAULT_BOOTSTRAP}
    settings.update(profile_settings(getattr(arguments, "profile", None), variables))
    settings.update(environment_settings(variables))
    config_file = getattr(arguments, "command_config", None)
    if config_file is not None:
        settings.update(read_properties(Path(config_file)))
    settings.update(own_settings(getattr(arguments, "properties", None) or (), "-X"))
    if getattr(arguments, "bootstrap_server", None):
        settings[BOOTSTRAP] = arguments.bootstrap_server
    return settings


def environment_settings(variables: Mapping[str, str]) -> dict[str, str]:
    """Returns the settings of the environment; BARNABAS_* override KAFKA_*.

    >>> environment_settings({"BARNABAS_SECURITY_PROTOCOL": "SSL", "KAFKA_BROKERS": "a:1"})
    {'bootstrap.servers': 'a:1', 'security.protocol': 'SSL'}
    """
    found = {}
    for name in reversed(_BROKER_VARIABLES):
        if variables.get(name):
            found[BOOTSTRAP] = variables[name]
    for name, value in variables.items():
        rest = name.removeprefix(_PREFIX)
        if rest == name or rest in _OTHER_VARIABLES or not value:
            continue
        key = rest.lower().replace("_", ".")
        if known_to_any_client(key):
            found[key] = value
        else:
            _reject_typo(rest)
    return found


def _reject_typo(name: str) -> None:
    """Raises ConfigError if the name of a variable, without its prefix, resembles a known one."""
    keys = (key.name for table in _client_tables() for key in table)
    known = [*_OTHER_VARIABLES, *(key.upper().replace(".", "_") for key in keys)]
    found = closest(name, known, _TYPO_SIMILARITY)
    if found is not None:
        raise ConfigError(
            f"environment variable {_PREFIX}{name} is not a setting; did you mean {_PREFIX}{found}?"
        )


def profile_settings(name: str | None, variables: Mapping[str, str]) -> dict[str, str]:
    """Returns the settings of the selected profile; empty when none is selected.

    Raises:
        ConfigError: The profile or the configuration file does not exist.
    """
    path = config_path(variables)
    wanted = name or variables.get("BARNABAS_PROFILE")
    if not path.is_file():
        if wanted:
            raise ConfigError(f"profile {wanted!r}: file {path} does not exist")
        if variables.get("BARNABAS_CONFIG"):
            raise ConfigError(f"BARNABAS_CONFIG: file {path} does not exist")
        return {}
    content = _load(path)
    wanted = wanted or content.get("profile")
    if wanted is None:
        return {}
    profiles: Mapping[str, Any] = content.get("profiles", {})
    if wanted not in profiles:
        known = ", ".join(sorted(profiles)) or "none"
        raise ConfigError(f"profile {wanted!r} is not in {path} (it has: {known})")
    return _flat(profiles[wanted])


def config_path(variables: Mapping[str, str]) -> Path:
    """Returns the path of the file with the profiles."""
    if variables.get("BARNABAS_CONFIG"):
        return Path(variables["BARNABAS_CONFIG"])
    base = variables.get("XDG_CONFIG_HOME") or Path(variables.get("HOME", "~")) / ".config"
    return Path(base).expanduser() / "barnabas" / "config.toml"


def read_properties(path: Path) -> dict[str, str]:
    """Returns the settings in a Java properties file, with `${env:NAME}` and the like replaced;
    ConfigError names the file.
    """
    text = _text(path)
    try:
        return resolve(parse_properties(text), os.environ, Path.read_text)
    except ConfigError as error:
        raise ConfigError(f"{path}: {error}") from error


def own_settings(items: Iterable[str], flag: str) -> dict[str, str]:
    """Returns KEY=VALUE arguments for this program, with `${env:…}` and `${file:…}` replaced.

    `ps` shows the arguments of a process, so a secret can be given as a reference. Values for a
    broker or a topic are read with `key_values`, which replaces nothing.
    """
    try:
        return resolve(key_values(items, flag), os.environ, Path.read_text)
    except ConfigError as error:
        raise ConfigError(f"{flag}: {error}") from error


def key_values(items: Iterable[str], flag: str) -> dict[str, str]:
    """Returns repeated KEY=VALUE arguments as a dict.

    >>> key_values(["a=1", "b=x=y"], "-X")
    {'a': '1', 'b': 'x=y'}
    """
    found = {}
    for item in items:
        key, equals, value = item.partition("=")
        if not equals or not key.strip():
            raise ConfigError(f"{flag} {item!r}: must look like KEY=VALUE")
        found[key.strip()] = value
    return found


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path}: is not UTF-8 text") from error


def _load(path: Path) -> dict[str, Any]:
    import tomllib  # start-up time: only needed when the file exists

    try:
        content = tomllib.loads(_text(path))
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{path}: cannot be read: {error}") from error
    for key, value in content.items():
        _check_shape(path, key, value)
    return content


def _check_shape(path: Path, key: str, value: object) -> None:
    if key == "profile" and isinstance(value, str):
        return
    if key == "profiles" and isinstance(value, dict):
        wrong = [name for name, settings in value.items() if not isinstance(settings, dict)]
        if not wrong:
            return
        key = f"profiles.{wrong[0]}"
    raise ConfigError(
        f'{path}: {key!r} is not valid here: expected profile = "name" or [profiles.name]'
    )


def _flat(table: Mapping[str, object], prefix: str = "") -> dict[str, str]:
    """Restores dotted names: TOML parses `bootstrap.servers = …` as nested tables."""
    found: dict[str, str] = {}
    for key, value in table.items():
        if isinstance(value, Mapping):
            found.update(_flat(value, f"{prefix}{key}."))
        elif isinstance(value, list):
            found[prefix + key] = ",".join(str(item) for item in value)
        else:
            found[prefix + key] = str(value).lower() if isinstance(value, bool) else str(value)
    return found


def add_connection_options(parser: argparse.ArgumentParser) -> None:
    """Adds -b, -X, --command-config and --profile."""
    group = parser.add_argument_group("connection")
    group.add_argument(
        "-b",
        "--bootstrap-server",
        "--bootstrap-servers",
        "--brokers",
        metavar="HOST:PORT",
        help="bootstrap brokers, comma-separated (default: environment, profile, localhost:9092)",
    )
    group.add_argument(
        "-X",
        "--command-property",
        dest="properties",
        metavar="KEY=VALUE",
        action="append",
        default=[],
        help="a client setting by Kafka's name, repeatable",
    )
    group.add_argument("--command-config", metavar="FILE", help="a properties file of settings")
    group.add_argument("--profile", metavar="NAME", help="a profile of the configuration file")


@dataclass(frozen=True, slots=True)
class Connection:
    """The settings of a cluster. Creates clients on demand; the caller closes them.

    `barnabas` and `config_keys` import clients and tables on first use: help texts must not wait
    for them.
    """

    settings: Mapping[str, str]

    @classmethod
    def of(cls, arguments: argparse.Namespace) -> "Connection":
        return cls(client_settings(arguments))

    @property
    def bootstrap(self) -> str:
        return self.settings[BOOTSTRAP]

    def admin(self) -> "barnabas.Admin":
        """Returns an admin client.

        Raises:
            UnavailableError: No bootstrap server responds.
        """
        defaults = {"default.api.timeout.ms": str(API_TIMEOUT_MS)}
        return barnabas.Admin(self.checked(config_keys.ADMIN_KEYS, defaults))

    def consumer(self, **defaults: object) -> "barnabas.Consumer":
        """Returns a consumer; settings of the user override `defaults` (names in snake_case)."""
        return barnabas.Consumer(self.checked(config_keys.CONSUMER_KEYS, _dotted(defaults)))

    def producer(self, **defaults: object) -> "barnabas.Producer":
        return barnabas.Producer(self.checked(config_keys.PRODUCER_KEYS, _dotted(defaults)))

    def checked(self, table: "ConfigTable", defaults: Mapping[str, object]) -> dict[str, Any]:
        """Returns the settings for one kind of client after checking that a broker responds."""
        settings = {**defaults, **self.supported_settings(table)}
        check_reachable(table.parse(settings))
        return settings

    def supported_settings(self, table: "ConfigTable") -> dict[str, object]:
        """Returns the settings that this kind of client has.

        Raises:
            ConfigError: No kind of client has a key of this name.
        """
        found: dict[str, Any] = {}
        for name, value in self.settings.items():
            try:
                own_name, own_value = table.translate(name, value)
            except ConfigError:
                if not known_to_any_client(name):
                    raise
            else:
                found[own_name] = own_value
        return found


def known_to_any_client(name: str) -> bool:
    """Returns whether any kind of client has a key of this name."""
    # Most environments have only this variable, and the tables take time to import.
    return name == BOOTSTRAP or any(table.knows(name) for table in _client_tables())


def _client_tables() -> "tuple[ConfigTable, ...]":
    return (
        config_keys.ADMIN_KEYS,
        config_keys.CONSUMER_KEYS,
        config_keys.PRODUCER_KEYS,
        config_keys.SIMPLE_KEYS,
        config_keys.CONNECTOR_KEYS,
    )


def check_reachable(values: Mapping[str, object]) -> None:
    """Raises UnavailableError unless a bootstrap server responds as a broker.

    The clients retry until their timeout. That is right for a service, but a person at a prompt
    should see the cause immediately.
    """
    # Start-up time: help texts need no connection.
    from barnabas.clients.core.blocking_router import bootstrap_problems

    problems = bootstrap_problems(values)
    if problems:
        reasons, where = "; ".join(problems.values()), ",".join(problems)
        raise UnavailableError(f"{reasons} (for a diagnosis run: barnabas doctor -b {where})")


def _dotted(options: Mapping[str, object]) -> dict[str, object]:
    return {name.replace("_", "."): value for name, value in options.items()}
