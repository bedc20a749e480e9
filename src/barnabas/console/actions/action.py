"""An action: a change that a page offers, as API request, command line and Python text.

The three forms are made from the same values, so the texts that a user copies do what the button
does. Modules of this package have one function per action, which returns an `Action`.
"""

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Action:
    """`cli` has the arguments of `barnabas`, without the connection; `python` uses `admin`.

    `imports` names what the Python text needs from the package besides `Admin`. `python_client` is
    the class of the client and `client_name` its variable in the text.
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
        """Returns a program."""
        settings = repr({"bootstrap.servers": bootstrap})
        lines = [f"from barnabas import {self.python_client}"]
        lines += self.imports
        lines += [
            "",
            f"with {self.python_client}({settings}) as {self.client_name}:",
            *(f"    {line}" for line in self.python.splitlines()),
        ]
        return "\n".join(lines)
