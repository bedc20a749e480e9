"""Mistakes of a user before a command starts: one line names the cause."""

import errno
import runpy
import sys

import pytest

from barnabas.cli.framework.options import read_input
from barnabas.cli.main import guarded, main
from barnabas.cli.servers.serving import startup_error
from barnabas.model.errors import LocalError
from barnabas.model.version import VERSION


def test_a_level_that_is_none(monkeypatch, capsys):
    monkeypatch.setenv("BARNABAS_LOG_LEVEL", "verbose")
    assert main(["topics", "list"]) == 2
    assert capsys.readouterr().err == (
        "barnabas topics: BARNABAS_LOG_LEVEL='verbose': must be DEBUG or INFO or WARNING or ERROR\n"
    )


def test_fewer_than_one_broker(capsys):
    assert main(["up", "--brokers", "0"]) == 2
    assert capsys.readouterr().err == "barnabas up: --brokers 0: must be at least 1\n"


@pytest.mark.parametrize("member", ["x=a:1:2", "1=a:1", "1"])
def test_a_member_that_is_none(capsys, member):
    assert main(["zookeeper", "--member", member]) == 2
    assert capsys.readouterr().err == (
        f"barnabas zookeeper: --member {member!r}: must look like 1=host:2888:3888\n"
    )


@pytest.mark.parametrize("port", ["65536", "-1", "http"])
@pytest.mark.parametrize("command", ["up", "zookeeper"])
def test_a_port_that_is_none(capsys, command, port):
    with pytest.raises(SystemExit) as ended:
        main([command, f"--port={port}"])
    assert ended.value.code == 2
    assert f"argument --port: {port!r} is not a port: must be 0 to 65535" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("command", "flags", "text"),
    [
        ("kafka-topics", ["--lst"], "--lst is not a recognized option; did you mean --list?"),
        ("kafka-topics", ["--list", "--zzz=1"], "--zzz=1 is not a recognized option"),
        ("kafka-console-consumer", ["--topik", "a"], "did you mean --topic?"),
    ],
)
def test_an_option_with_a_typo(capsys, command, flags, text):
    with pytest.raises(SystemExit) as ended:
        main([command, "--bootstrap-server", "localhost:1", *flags])
    assert ended.value.code == 1
    assert text in capsys.readouterr().err


@pytest.mark.parametrize(
    ("command", "text"),
    [
        ("groups reset g --topic t --to-ofset 1", "unknown option --to-ofset; did you mean --to-o"),
        ("topics lsit --bootstrap-server h:1", "invalid choice: 'lsit'"),
        ("groups describ g -b h:1 --format json", "did you mean describe?"),
        ("topics --formt json list", "unknown option --formt"),
        ("broker server.properties", "required: --config; did you mean --config server.properties"),
        ("configs describe --topic orders", "unknown option --topic"),
        ("topics dump orders all.json", "arguments: all.json; did you mean --output all.json?"),
        ("broker --confg x", "unknown option --confg; did you mean --config?"),
        ("consume t -n -3", "argument -n/--count: '-3' is not a number of records"),
        ("consume t --tail -1", "argument --tail: '-1' is not a number of records"),
    ],
)
def test_a_mistake_is_named_before_a_missing_option(capsys, command, text):
    with pytest.raises(SystemExit) as ended:
        main(command.split())
    assert ended.value.code == 2
    assert text in capsys.readouterr().err


def test_follow_with_an_end(capsys):
    assert main(["consume", "t", "-o", ":end", "--follow", "-b", "localhost:1"]) == 2
    text = "--follow and -o :end, which has an end, cannot be used together"
    assert text in capsys.readouterr().err


def test_a_file_that_cannot_be_made(capsys):
    def work():
        raise FileExistsError(errno.EEXIST, "File exists", "data")

    assert guarded("barnabas zookeeper", work) == 1
    assert capsys.readouterr().err == "barnabas zookeeper: data: File exists\n"


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (
            OSError(errno.EADDRINUSE, "Address already in use", "127.0.0.1:9092"),
            "port 9092 is in use; try port 9093, or port 0 for a free port",
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


@pytest.mark.parametrize(
    ("note", "shown"), [("for billing", ""), ("for shipping", " (for shipping)"), ("x", " (x)")]
)
def test_a_note_says_nothing_twice(capsys, note, shown):
    def work():
        error = LocalError("group 'billing' is active")
        error.add_note(note)
        raise error

    assert guarded("barnabas groups", work) == 1
    assert capsys.readouterr().err == f"barnabas groups: group 'billing' is active{shown}\n"


def test_a_file_of_bytes_where_text_is_wanted(tmp_path, capsys):
    path = tmp_path / "plan.json"
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(LocalError, match=r"cannot read .*plan\.json: it is not UTF-8 text"):
        read_input(str(path))
    assert main(["sql", str(path)]) == 2
    assert "plan.json: is not UTF-8 text" in capsys.readouterr().err


def test_an_extra_that_is_not_installed(capsys):
    def work():
        raise ModuleNotFoundError("No module named 'kazoo'", name="kazoo.client")

    assert guarded("barnabas groups", work) == 1
    text = "barnabas groups: kazoo is not installed: pip install 'barnabas[zookeeper]'\n"
    assert capsys.readouterr().err == text


def test_a_module_that_is_no_extra_is_a_defect():
    def work():
        raise ModuleNotFoundError("No module named 'asyncoi'", name="asyncoi")

    with pytest.raises(ModuleNotFoundError):
        guarded("barnabas groups", work)


def test_the_package_runs_with_dash_m(monkeypatch, capsys):
    """`python -m barnabas` works where the script is not on PATH, as `python -m pip` does."""
    monkeypatch.setattr(sys, "argv", ["barnabas", "--version"])
    with pytest.raises(SystemExit) as ended:
        runpy.run_module("barnabas", run_name="__main__")
    assert (ended.value.code, capsys.readouterr().out) == (0, f"barnabas {VERSION}\n")
