"""The console consumer with the user's own deserializers and formatters, and why it ended."""

import pytest

pytestmark = pytest.mark.integration

PLUGINS = """
class Hex:
    def configure(self, configs, is_key):
        self.before = configs.get("before", "") + ("key " if is_key else "value ")

    def deserialize(self, topic, data):
        if data == b"bad":
            raise RuntimeError("not for me")
        return f"{self.before}{topic[:1]} {data.hex()}"


def upper(data):
    return data.upper()


class Lines:
    def configure(self, properties):
        self.end = properties["end"]

    def write_to(self, record, out):
        out.write(record.value + self.end.encode())

    def close(self):
        print("closed", flush=True)


class Rendered:
    def render(self, record):
        return f"{record.offset}={record.value.decode()}\\n"


class Nothing:
    pass


class Broken:
    def __init__(self):
        raise RuntimeError("no way")
"""


@pytest.fixture
def console(cli, broker, topic_name, tmp_path, monkeypatch):
    """Runs the console consumer on a topic, in a directory that has plug-ins."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "console_plugins.py").write_text(PLUGINS)
    broker.topic(topic_name)

    def run(*flags, values=("v1", "v2")):
        broker.produce(topic_name, *values, key="k")
        where = ["--bootstrap-server", broker.bootstrap_servers, "--topic", topic_name]
        whole = ["--partition", "0", "--offset", "earliest", "--max-messages", len(values)]
        return cli("kafka-console-consumer", *where, *whole, *flags)

    return run


def test_deserializers_are_configured_by_their_prefix(console, topic_name):
    flags = ["--property", "print.key=true", "--property", "key.separator=|"]
    flags += ["--property", "key.deserializer=console_plugins:Hex"]
    flags += ["--property", "key.deserializer.before=>"]
    flags += ["--value-deserializer", "console_plugins:upper"]
    flags += ["--property", "value.deserializer.unused=1"]
    ran = console(*flags)
    assert ran.code == 0, ran.err
    assert ran.lines == [f">key {topic_name[:1]} 6b|V1", f">key {topic_name[:1]} 6b|V2"]


def test_a_deserializer_that_fails(console):
    flags = ["--value-deserializer", "console_plugins:Hex"]
    ran = console(*flags, values=("bad", "v"))
    assert ran.code == 1
    assert "Error processing message: console_plugins:Hex: RuntimeError: not for me" in ran.err
    assert "Traceback" not in ran.err
    ran = console(*flags, "--skip-message-on-error", values=("bad", "v"))
    assert ran.code == 0
    assert "value" in ran.out


def test_formatters(console):
    ran = console("--formatter", "console_plugins:Lines", "--property", "end=;")
    assert (ran.code, ran.out) == (0, "v1;v2;closed\n")
    ran = console("--formatter", "console_plugins:Rendered")
    assert ran.out == "0=v1\n1=v2\n"


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (["--formatter", "no_such_module:X"], "cannot import no_such_module"),
        (["--formatter", "console_plugins:Absent"], "has no class or function 'Absent'"),
        (["--formatter", "console_plugins:Nothing"], "must have render(record) or write_to"),
        (["--formatter", "console_plugins:Broken"], "console_plugins:Broken: RuntimeError: no way"),
        (["--formatter", "console_plugins:Lines"], "console_plugins:Lines: KeyError: 'end'"),
        (["--formatter", "com.example.Mine"], "Python classes as package.module:Class"),
        (["--value-deserializer", "com.example.Mine"], "Python classes as package.module:Class"),
        (["--property", "deserializer.x=1"], "the formatter has no property 'deserializer.x'"),
    ],
)
def test_mistakes(console, flags, message):
    ran = console(*flags)
    assert ran.code == 1
    assert message in ran.err
    assert "Traceback" not in ran.err


def test_the_console_consumer_tells_why_it_ended(console, cli, broker, topic_name):
    assert console().err == "Processed a total of 2 messages: --max-messages was reached\n"
    where = ["--bootstrap-server", broker.bootstrap_servers, "--topic", topic_name]
    ran = cli("kafka-console-consumer", *where, "--from-beginning", "--timeout-ms", 4000)
    end = ": no message for 4000 ms (--timeout-ms)\n"
    assert ran.err == f"Processed a total of 2 messages{end}"


def test_consume_tells_why_it_ended(console, cli, broker, topic_name):
    console()
    servers = broker.bootstrap_servers
    assert (
        cli("consume", topic_name, "-n", 1, servers=servers).err
        == "read 1 record: -n was reached\n"
    )
    ran = cli("consume", topic_name, "--timeout", 0.5, servers=servers)
    assert ran.err == "read 2 records: no record for 0.5 s (--timeout)\n"
    assert cli("consume", topic_name, "-o", ":end", servers=servers).err == ""
