"""Running command lines in the test's own process, with an environment that is empty of ours."""

import io
import os
import sys
from typing import NamedTuple

import pytest

from barnabas.cli.main import main


class Ran(NamedTuple):
    """The result of a command line."""

    code: int
    out: str
    err: str

    @property
    def lines(self):
        return self.out.splitlines()


@pytest.fixture
def cli(monkeypatch, capsysbinary, tmp_path):
    """`cli("topics", "list", servers=…, stdin=b"")` runs one command line."""
    for name in list(os.environ):
        if name.startswith(("BARNABAS_", "KAFKA_")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)

    def run(*arguments, servers=None, stdin=b""):
        if servers is not None:
            monkeypatch.setenv("BARNABAS_BOOTSTRAP_SERVERS", servers)
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        capsysbinary.readouterr()
        try:
            code = main([str(argument) for argument in arguments])
        except SystemExit as ended:
            code = int(ended.code or 0)
        captured = capsysbinary.readouterr()
        return Ran(code, captured.out.decode(errors="backslashreplace"), captured.err.decode())

    return run
