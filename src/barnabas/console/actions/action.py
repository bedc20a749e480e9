"""An action: a change that a page offers, as API request, command line and Python text.

The three forms are made from the same values, so the texts that a user copies do what the button
does. Modules of this package have one function per action, which returns an `Action`, or an
`ApiAction` for a function that only the console has.
"""

import json
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from urllib.parse import urlencode


@dataclass(frozen=True, slots=True)
class Action:
    """One change as a request, a command line and Python text.

    `cli` has the arguments of `barnabas`, without the connection; `python` uses `admin`.

    `imports` names what the Python text needs from the package besides the client. `python_client`
    is the class of the client, with its module if that is not `barnabas`, and `client_name` its
    variable in the text.
    """

    title: str
    method: str
    path: str
    body: Mapping[str, object] | None
    cli: Sequence[str]
    python: str
    imports: Sequence[str] = ()
    python_client: str = "Admin"
    client_name: str = "admin"
    query: Mapping[str, object] = field(default_factory=dict)
    cli_input: str | None = None
    """Text for the standard input of the command."""

    def cli_text(self, bootstrap: str) -> str:
        """Returns a command line for a shell.

        >>> Action("Delete", "DELETE", "/topics/a", None, ["topics", "delete", "a"], "").cli_text(
        ...     "localhost:9092")
        'barnabas topics delete a --bootstrap-server localhost:9092'
        """
        command = shlex.join(["barnabas", *self.cli, "--bootstrap-server", bootstrap])
        if self.cli_input is None:
            return command
        return f"echo {shlex.quote(self.cli_input)} | {command}"

    def python_text(self, bootstrap: str) -> str:
        """Returns the change as a Python program."""
        settings = repr({"bootstrap.servers": bootstrap})
        module, _, name = f"barnabas.{self.python_client}".rpartition(".")
        lines = [f"from {module} import {name}"]
        lines += self.imports
        lines += [
            "",
            f"with {name}({settings}) as {self.client_name}:",
            *(f"    {line}" for line in self.python.splitlines()),
        ]
        return "\n".join(lines)


def alter_configs(
    resource: str, path: str, cli: Sequence[str], values: Mapping[str, str], reset: Sequence[str]
) -> Action:
    """Sets values of a resource and resets keys; `resource` is its Python text, as `topic('a')`."""
    changes: dict[str, str | None] = {**values, **dict.fromkeys(reset)}
    return Action(
        "Change configuration",
        "PATCH",
        path,
        {"values": dict(values), "reset": list(reset)},
        cli,
        f"admin.alter_configs({{ConfigResource.{resource}: {changes!r}}}).check()",
        imports=["from barnabas.admin import ConfigResource"],
    )


def config_options(
    set_option: str, reset_option: str, values: Mapping[str, str], reset: Sequence[str]
) -> list[str]:
    """Returns the options of a command that sets values and resets keys.

    >>> config_options("--set", "--delete", {"a": "1"}, ["b"])
    ['--set', 'a=1', '--delete', 'b']
    """
    options = []
    for key, value in values.items():
        options += [set_option, f"{key}={value}"]
    for key in reset:
        options += [reset_option, key]
    return options


@dataclass(frozen=True, slots=True)
class ConsoleAddress:
    """The URL of this console for programs, and the user name if it asks for a password."""

    url: str = "http://127.0.0.1:8080"
    user: str | None = None


class ApiAction(Action):
    """An action whose texts call the API of the console: no command of `barnabas` has it."""

    __slots__ = ("console",)

    def __init__(
        self,
        title: str,
        method: str,
        path: str,
        body: Mapping[str, object] | None,
        console: ConsoleAddress,
        query: Mapping[str, object] | None = None,
    ) -> None:
        super().__init__(title, method, path, body, (), "", query=query or {})
        object.__setattr__(self, "console", console)

    console: ConsoleAddress

    def cli_text(self, bootstrap: str) -> str:
        """Returns a command line with curl.

        >>> action = ApiAction("Run", "POST", "/sql", {"a": 1}, ConsoleAddress("http://c"))
        >>> print(action.cli_text("localhost:9092"))
        curl --no-buffer --json '{"a": 1}' http://c/api/v1/sql
        """
        command = ["curl", "--no-buffer"]
        if self.console.user is not None:
            command += ["--user", self.console.user]
        if self.body is not None:
            command += ["--json", json.dumps(self.body)]
        return shlex.join([*command, self._url()])

    def python_text(self, bootstrap: str) -> str:
        lines = ["import json", "import urllib.request", ""]
        lines.append(f"request = urllib.request.Request({self._url()!r})")
        if self.body is not None:
            lines += [
                f"request.data = json.dumps({dict(self.body)!r}).encode()",
                "request.add_header('content-type', 'application/json')",
            ]
        if self.console.user is not None:
            lines += [
                "import base64, getpass",
                f"login = f'{self.console.user}:{{getpass.getpass()}}'",
                "request.add_header('authorization', "
                "'Basic ' + base64.b64encode(login.encode()).decode())",
            ]
        lines += [
            "with urllib.request.urlopen(request) as response:",
            "    for line in response:",
            "        print(line.decode(), end='')",
        ]
        return "\n".join(lines)

    def _url(self) -> str:
        given = {key: value for key, value in self.query.items() if value is not None}
        query = f"?{urlencode(given)}" if given else ""
        return f"{self.console.url}/api/v1{self.path}{query}"
