"""The shell on ZooKeeper, and ZooKeeper from its own kind of properties file."""

import os
import signal
import subprocess
import sys

import pytest

pytestmark = [pytest.mark.integration, pytest.mark.xdist_group("zookeeper")]


@pytest.fixture
def zk(cli, zookeeper, topic_name):
    """`zk("get", "/a")` runs one command of the shell, below a path of its own."""
    server = f"{zookeeper.connect_string}/{topic_name}"
    return lambda *words, **more: cli("zookeeper", "shell", server, *words, **more)


def test_a_session(zk):
    assert zk("create", "/brokers").out == "Created /brokers\n"
    zk("create", "/brokers/ids")
    assert zk("create", "/brokers/ids/3", '{"host":"a"}').code == 0
    zk("create", "/brokers/ids/5", "x")
    assert zk("ls", "/brokers/ids").out == "[3, 5]\n"
    assert zk("get", "/brokers/ids/3").out == '{"host":"a"}\n'
    assert zk("set", "/brokers/ids/3", "{}").code == 0
    state = zk("stat", "/brokers/ids/3").out
    assert "dataVersion = 1\n" in state
    assert "dataLength = 2\n" in state
    assert "ephemeralOwner = 0x0\n" in state
    assert zk("get", "-s", "/brokers/ids/3").out == f"{{}}\n{state}"
    assert zk("delete", "/brokers/ids/3").code == 0
    assert zk("ls", "/brokers/ids").out == "[5]\n"
    assert zk("deleteall", "/brokers").code == 0
    assert zk("ls", "/").out == "[]\n"


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["get", "/absent"], 1, "Node does not exist: /absent"),
        (["delete", "/a"], 1, "Node not empty: /a"),
        (["create", "/a"], 1, "Node already exists: /a"),
        (["set", "/a", "x", "7"], 1, "version No is not valid : /a"),
        (["get", "a"], 2, "a path must start with /"),
        (["get"], 2, "required: path"),
        (["set", "/a"], 2, "required: data"),
        (["frobnicate", "/a"], 2, "command not found: frobnicate"),
    ],
)
def test_mistakes(zk, words, code, message):
    zk("create", "/a")
    zk("create", "/a/b")
    ran = zk(*words)
    assert (ran.code, ran.out) == (code, "")
    assert message in ran.err
    assert "Traceback" not in ran.err


def test_commands_from_standard_input(zk):
    ran = zk(stdin=b"create /a 'one two'\nget /a\n\nget /none\nls /\nquit\nget /never\n")
    assert ran.out == "Created /a\none two\n[a]\n"
    assert ran.err == "Node does not exist: /none\n"


def test_nodes_cannot_write_to_the_terminal(zk):
    zk("create", "/a", "\x1b[31m")
    assert zk("get", "/a").out == "\\x1b[31m\n"


def test_no_server(cli):
    ran = cli("zookeeper", "shell", "127.0.0.1:1", "ls", "/")
    assert ran.code == 1
    assert "no ZooKeeper server at 127.0.0.1:1 answers" in ran.err


def test_apaches_name(cli, zookeeper):
    ran = cli("zookeeper-shell.sh", zookeeper.connect_string, "ls", "/")
    assert ran.code == 0
    assert "zookeeper" in ran.out


def test_a_server_from_a_properties_file(cli, tmp_path):
    file = tmp_path / "zookeeper.properties"
    file.write_text(
        "# the snapshot directory \\\n"
        f"dataDir={tmp_path}/data\nclientPort=0\nclientPortAddress=127.0.0.1\n"
        "maxClientCnxns=7\nadmin.enableServer=false\n"
    )
    command = [sys.executable, "-m", "barnabas.cli.main", "zookeeper-server-start", str(file)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        address = process.stdout.readline().removeprefix("listening on ").strip()
        try:
            assert cli("zookeeper", "shell", address, "ls", "/").out == "[zookeeper]\n"
        finally:
            process.send_signal(signal.SIGTERM)
    assert process.returncode == 0
    assert "maxClientCnxns=7" in (tmp_path / "data" / "zoo.cfg").read_text()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("clientPort=1\n", "dataDir is missing"),
        ("dataDir=/x\nclientPort=soon\n", "clientPort='soon': must be a whole number"),
        ("dataDir=/no/such\nserver.1=a:1:2\n", "/no/such/myid is missing"),
    ],
)
def test_wrong_properties(cli, tmp_path, text, message):
    file = tmp_path / "zookeeper.properties"
    file.write_text(text)
    ran = cli("zookeeper-server-start", file)
    assert ran.code == 1
    assert message in ran.err


def test_scripts(cli, tmp_path, broker):
    ran = cli("install-scripts", tmp_path / "bin")
    assert ran.code == 0, ran.err
    script = tmp_path / "bin" / "kafka-topics.sh"
    assert os.access(script, os.X_OK)
    where = ["--bootstrap-server", broker.bootstrap_servers]
    made = subprocess.run(
        [script, "--create", "--topic", "from-a-script", *where], capture_output=True, text=True
    )
    assert (made.returncode, made.stdout) == (0, "Created topic from-a-script.\n")
    names = {path.name for path in (tmp_path / "bin").iterdir()}
    wanted = {"kafka-server-start.sh", "zookeeper-server-start.sh", "zookeeper-shell.sh"}
    assert wanted <= names
    assert cli("install-scripts", tmp_path / "bin").code == 0  # its own files may be replaced
    script.write_text("#!/bin/sh\n# mine\n")
    ran = cli("install-scripts", tmp_path / "bin")
    assert ran.code == 2
    assert "files with these names: kafka-topics.sh" in ran.err
    assert cli("install-scripts", "--force", tmp_path / "bin").code == 0
