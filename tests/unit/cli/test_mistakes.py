"""What a user may get wrong before a command has begun: one line that names the cause."""

import errno

import pytest

from barnabas.cli.main import main
from barnabas.cli.servers.serving import startup_error


def test_a_level_that_is_none(monkeypatch, capsys):
    monkeypatch.setenv("BARNABAS_LOG_LEVEL", "verbose")
    assert main(["topics", "list"]) == 2
    assert capsys.readouterr().err == (
        "barnabas topics: BARNABAS_LOG_LEVEL='verbose': must be DEBUG or INFO or WARNING or ERROR\n"
    )


def test_fewer_than_one_broker(capsys):
    assert main(["up", "--brokers", "0"]) == 2
    assert capsys.readouterr().err == "barnabas up: --brokers 0: must be at least 1\n"


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (
            OSError(errno.EADDRINUSE, "Address already in use", "127.0.0.1:9092"),
            "port 9092 is taken; try port 9093, or port 0 for a free one",
        ),
        (
            OSError(errno.EACCES, "Permission denied", "127.0.0.1:80"),
            "port 80 needs privileges; try port 9092",
        ),
        (
            OSError(-2, "Name or service not known", "nosuch.example"),
            "cannot start: nosuch.example: Name or service not known",
        ),
    ],
)
def test_why_a_broker_does_not_start(error, text):
    assert startup_error(error) == text
