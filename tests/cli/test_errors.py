"""Exit codes and the texts of errors: one line, the cause named, never a traceback."""

import importlib
import os
import signal
import socket
import subprocess
import sys
import time

import pytest

from barnabas.cli.commands import COMMANDS
from barnabas.clients.group import Consumer

pytestmark = pytest.mark.integration


@pytest.fixture
def dead_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@pytest.fixture
def member(broker, topic_name):
    """A group with one member."""
    broker.topic(topic_name)
    broker.produce(topic_name, "a")
    settings = {
        "bootstrap.servers": broker.bootstrap_servers,
        "group.id": topic_name,
        "client.id": "the-worker",
        "auto.offset.reset": "earliest",
    }
    with Consumer(settings) as consumer:
        consumer.subscribe([topic_name])
        assert consumer.poll(60)
        consumer.commit()
        yield topic_name


@pytest.mark.parametrize(
    "command",
    [
        ["topics", "list"],
        ["consume", "t"],
        ["groups", "list"],
        ["cluster", "info"],
        ["produce", "t", "--value", "x"],
        ["kafka-topics", "--list"],
        ["kafka-console-consumer", "--topic", "t"],
    ],
)
def test_an_unreachable_broker_is_reported_at_once(cli, dead_port, command):
    address = f"127.0.0.1:{dead_port}"
    started = time.monotonic()
    ran = cli(*command, "--bootstrap-server", address)
    assert (ran.code, ran.out) == (1, "")
    module = importlib.import_module(COMMANDS[command[0]].module)
    prefix = getattr(module, "ERROR_PREFIX", f"barnabas {command[0]}: ")
    assert ran.err == (
        f"{prefix}cannot connect to {address}: connection refused: "
        f"nothing listens there (for a diagnosis run: barnabas doctor -b {address})\n"
    )
    assert time.monotonic() - started < 20  # the clients would try for 30 s


@pytest.mark.parametrize(
    "command",
    [
        ["topics", "describe", "absent"],
        ["consume", "absent", "-o", ":end"],
        ["topics", "dump", "absent"],
        ["offsets", "get", "absent"],
    ],
)
def test_a_missing_topic(cli, broker, command):
    ran = cli(*command, servers=broker.bootstrap_servers)
    assert (ran.code, ran.out) == (1, "")
    assert ran.err.startswith(f"barnabas {command[0]}: UNKNOWN_TOPIC_OR_PARTITION: topic 'absent'")
    assert len(ran.err.splitlines()) == 1


def test_a_missing_partition(cli, broker, topic_name):
    broker.topic(topic_name)
    ran = cli("consume", f"{topic_name}:7", servers=broker.bootstrap_servers)
    assert ran.code == 1
    assert f"topic {topic_name!r} has 1 partitions; partition 7 does not exist" in ran.err


@pytest.mark.parametrize("offset", ["nonsense", "1:2:3", "@yesterday", "", ":", "5h"])
def test_a_bad_offset_is_wrong_usage(cli, broker, offset):
    ran = cli("consume", "t", f"--offset={offset}", servers=broker.bootstrap_servers)
    assert ran.code == 2
    assert ran.err.startswith("barnabas consume: offset") or "which" in ran.err


def test_an_offset_out_of_range(cli, broker, topic_name):
    broker.topic(topic_name)
    broker.produce(topic_name, "a", "b")
    ran = cli("consume", topic_name, "-o", "99", servers=broker.bootstrap_servers)
    assert ran.code == 1
    assert ran.err == (
        "barnabas consume: OFFSET_OUT_OF_RANGE: offset 99 does not exist: "
        f"{topic_name}-0 has 0 to 2\n"
    )


def test_an_active_group_is_rejected_with_its_members(cli, broker, member):
    servers = broker.bootstrap_servers
    text = f"group {member!r} is active (Stable): stop its members first: the-worker@127.0.0.1\n"
    reset = ["--topic", member, "--to-earliest", "--execute"]
    ran = cli("groups", "reset", member, *reset, servers=servers)
    assert (ran.code, ran.out, ran.err) == (1, "", f"barnabas groups: {text}")
    ran = cli("groups", "delete", member, "--yes", servers=servers)
    assert (ran.code, ran.err) == (1, f"barnabas groups: {text}")
    ran = cli(
        *("kafka-consumer-groups", "--bootstrap-server", servers, "--group", member),
        *("--reset-offsets", *reset),
    )
    assert (ran.code, ran.err) == (
        1,
        f"Error: Executing consumer group command failed due to {text}",
    )


def test_members_are_described(cli, broker, member):
    ran = cli("groups", "describe", member, "--members", servers=broker.bootstrap_servers)
    assert "the-worker" in ran.out
    assert f"{member}-0" in ran.out
    ran = cli(
        *("kafka-consumer-groups", "--bootstrap-server", broker.bootstrap_servers),
        *("--describe", "--group", member, "--members", "--verbose"),
    )
    assert f"{member}:0" in ran.out


def test_lag_above_the_limit_is_a_failed_check(cli, broker, member):
    servers = broker.bootstrap_servers
    assert cli("groups", "describe", member, "--max-lag", "0", servers=servers).code == 0
    broker.produce(member, "b", "c")
    assert cli("groups", "describe", member, "--max-lag", "1", servers=servers).code == 3


def test_wrong_usage(cli):
    assert cli().code == 2
    assert cli("nonsense").code == 2
    assert "did you mean 'topics'" in cli("topcis").err
    assert cli("topics").code == 2
    assert cli("topics", "describe", "--nonsense").code == 2
    assert "missing required option --bootstrap-server" in cli("kafka-topics", "--list").err


@pytest.mark.parametrize(
    "arguments",
    [
        ["kafka-topics", "--list", "--nonsense"],
        ["kafka-topics", "--bootstrap-server", "x:1"],
        ["kafka-topics", "--list"],
        ["kafka-acls", "--nonsense"],
        ["kafka-transactions", "--nonsense"],
        ["kafka-transactions", "--bootstrap-server", "x:1", "nonsense"],
        ["kafka-console-producer", "--bootstrap-server", "x:1"],
        ["kafka-server-start", "no-such.properties"],
        ["kafka-run-class", "kafka.tools.Nonsense"],
        ["kafka-run-class", "kafka.tools.GetOffsetShell", "--nonsense"],
    ],
)
def test_wrong_usage_of_an_apache_tool_has_the_exit_code_of_kafka(cli, arguments):
    ran = cli(*arguments)
    assert ran.code == 1
    assert ran.err
    assert "Traceback" not in ran.err


def test_unknown_settings_are_suggested(cli):
    ran = cli("topics", "list", "-X", "securty.protocol=SSL")
    assert ran.code == 2
    assert "did you mean 'security.protocol'" in ran.err


def test_destroying_needs_a_yes(cli, broker, topic_name):
    broker.topic(topic_name)
    servers = broker.bootstrap_servers
    ran = cli("topics", "delete", topic_name, servers=servers)
    assert ran.code == 2
    assert "--yes is required" in ran.err
    assert cli("topics", "delete", topic_name, "--dry-run", servers=servers).code == 0
    assert topic_name in [item.name for item in broker.admin.list_topics()]
    assert cli("topics", "delete", topic_name, "--yes", servers=servers).code == 0
    assert cli("topics", "delete", topic_name, "--yes", servers=servers).code == 1
    ran = cli("topics", "delete", topic_name, "--yes", "--if-exists", servers=servers)
    assert ran.code == 0


def test_ctrl_c_and_a_closed_pipe(broker, topic_name):
    broker.topic(topic_name)
    broker.produce(topic_name, *(f"{number:01000d}" for number in range(500)))
    command = [sys.executable, "-m", "barnabas.cli.main", "consume", topic_name, "--format", "raw"]
    command += ["-b", broker.bootstrap_servers]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout.readline()
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (130, b"")

    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    os.read(process.stdout.fileno(), 10)
    process.stdout.close()
    broker.produce(topic_name, "more", "and more")
    assert process.stderr.read() == b""
    process.stderr.close()
    assert process.wait(60) == 0


def test_help_is_fast_and_has_examples(cli):
    for name in COMMANDS:
        ran = cli(name, "--help")
        assert ran.code == 0, name
        assert "example:" in ran.out or "VERB" in ran.out, name


def test_every_verb_has_an_example(cli):
    for name, command in COMMANDS.items():
        module = importlib.import_module(command.module)
        for verb in getattr(module, "VERBS", ()):
            ran = cli(name, verb.name, "--help")
            assert "example:\n  barnabas" in ran.out, (name, verb.name)


@pytest.mark.parametrize(
    "arguments",
    [
        ["--help"],
        ["topics", "--help"],
        ["consume", "--help"],
        ["up", "--help"],
        ["groups", "--help"],
    ],
)
def test_help_takes_less_than_200_ms(arguments):
    """In processor time, the best of ten: other work on the machine only adds to it."""

    def seconds():
        command = [sys.executable, "-m", "barnabas.cli.main", *arguments]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        assert process.returncode == 0
        return usage.ru_utime + usage.ru_stime

    assert any(seconds() < 0.2 for _ in range(10))


@pytest.mark.parametrize("name", ["topics", "groups", "up", "broker", "kafka-topics"])
def test_help_imports_no_client_and_no_broker(name):
    code = (
        "import sys; from barnabas.cli.main import main\n"
        f"try: main([{name!r}, '--help'])\n"
        "except SystemExit: pass\n"
        "heavy = ('barnabas.clients', 'barnabas.admin.admin', 'barnabas.admin.session',"
        " 'barnabas.broker', 'barnabas.wire', 'barnabas.net', 'asyncio')\n"
        "print([n for n in sys.modules if n.startswith(heavy)])"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.splitlines()[-1] == "[]"


def test_log_dirs_of_a_missing_topic_are_an_error(cli, broker, topic_name):
    broker.topic(topic_name)
    found = cli("log-dirs", "--topic", topic_name, servers=broker.bootstrap_servers)
    assert (found.code, len(found.lines)) == (0, 2)
    missing = cli("log-dirs", "--topic", f"no-{topic_name}", servers=broker.bootstrap_servers)
    assert missing.code == 1
    assert f"topic 'no-{topic_name}'" in missing.err


@pytest.mark.parametrize(
    ("arguments", "code", "expected"),
    [
        (["produce", "{topic}"], 0, "produced 0 records"),
        (["topics", "list"], 0, ""),
        (["topics", "delete", "{topic}"], 2, "--yes is required when there is no terminal"),
    ],
)
def test_closed_standard_streams(broker, topic_name, arguments, code, expected):
    """`<&- >&-`: Python has no stdin and stdout then."""
    broker.topic(topic_name)
    command = [sys.executable, "-m", "barnabas.cli.main"]
    command += [item.format(topic=topic_name) for item in arguments]
    command += ["-b", broker.bootstrap_servers]
    shell = ["sh", "-c", '"$@" <&- >&-', "sh", *command]
    ran = subprocess.run(shell, stderr=subprocess.PIPE, text=True, timeout=60)
    assert (ran.returncode, expected in ran.stderr) == (code, True), ran.stderr
    assert "Traceback" not in ran.stderr
