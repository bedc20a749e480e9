"""The console as a process: memory, Ctrl-C, and messages about wrong options."""

import json
import signal
import sys
import urllib.error
from pathlib import Path

import pytest
from support.console.process import ConsoleProcess

from barnabas.cli.main import main

MAX_RSS_KIB = 120 * 1024


def rss_kib(pid):
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS"))


def test_memory_port_and_ctrl_c(broker, capsys):
    running = ConsoleProcess(broker.bootstrap_servers)
    try:
        for path in ("/overview", "/topics", "/groups", "/cluster/versions", "/sql/definitions"):
            running.api("GET", path)
        if sys.platform == "linux":
            assert rss_kib(running.process.pid) < MAX_RSS_KIB
        port = running.url.rpartition(":")[2]
        assert main(["console", "-b", broker.bootstrap_servers, "--port", port]) == 1
        assert f"port {port} is in use; try --port {int(port) + 1}" in capsys.readouterr().err
        running.process.send_signal(signal.SIGINT)
        running.process.send_signal(signal.SIGTERM)  # as `barnabas up --console` does
        assert running.process.wait(60) == 130
    finally:
        running.stop()
    assert running.errors == ""


def test_a_method_that_a_path_does_not_have_is_answered_by_the_api(broker):
    """The pages of the console, which serve all other paths, return HTML."""
    running = ConsoleProcess(broker.bootstrap_servers)
    try:
        with pytest.raises(urllib.error.HTTPError) as refused:
            running.api("PUT", "/topics")
        with refused.value as response:
            body = json.load(response)
        assert (response.status, body["code"]) == (405, "METHOD_NOT_ALLOWED")
        assert response.headers["allow"] == "GET, POST"
        assert body["message"] == "/api/v1/topics does not accept PUT, only GET, POST"
    finally:
        running.stop()


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (["--host", "0.0.0.0"], "add --login scram, --login proxy or --login oidc"),
        (["--login", "oidc"], "--login oidc needs --oidc-issuer and --oidc-client-id"),
        (["--role", "ada=king"], "role 'king' is unknown; roles are read, operate, admin"),
        (["-X", "acks.typo=1"], "acks.typo"),
        (["-b", "nohost:abc"], "bootstrap.servers: 'nohost:abc' is not host:port"),
        (["-b", "localhost:1,"], "bootstrap.servers: '' is not host:port"),
        (["--audit-log", "/nonexistent/log"], "--audit-log /nonexistent/log: No such file"),
        (["--schema-registry", "localhost:8081"], "--schema-registry"),
        (["--zookeeper", ""], "--zookeeper"),
        (["--metrics-url", "ftp://localhost"], "--metrics-url"),
    ],
)
def test_wrong_options_are_rejected_in_one_line(options, text, capsys):
    assert main(["console", "-b", "localhost:1", "--port", "0", *options]) in (1, 2)
    error = capsys.readouterr().err
    assert text in error
    assert len(error.splitlines()) == 1
