"""`barnabas sql` without Spark: definitions, values, looking, errors, the shell."""

import json
import os
import signal
import subprocess
import sys
import uuid

import pytest
from prompt_toolkit.application import create_app_session
from prompt_toolkit.input import create_pipe_input
from prompt_toolkit.output import DummyOutput

from barnabas.cli.nouns.sql_foreground import Foreground, StepLine
from barnabas.cli.nouns.sql_script import Printer, candidates, run_shell
from barnabas.streams.sql.catalog import Catalog
from barnabas.streams.sql.engine.engine import Engine
from barnabas.streams.sql.engine.results import StreamResult, TableResult, TextResult

pytestmark = pytest.mark.integration


@pytest.fixture
def name():
    return f"s_{uuid.uuid4().hex[:8]}"


@pytest.fixture
def sql(cli, broker):
    def run(*arguments, stdin=b""):
        return cli("sql", *arguments, servers=broker.bootstrap_servers, stdin=stdin)

    return run


def test_statements_on_the_command_line(sql, name):
    made = sql("-e", f"CREATE STREAM {name} (k VARCHAR KEY, n INT) WITH (partitions=1)")
    assert (made.code, made.out) == (0, f"STREAM {name} created\n")
    sql("-e", f"INSERT INTO {name} VALUES ('a', 1), ('b', NULL)")
    printed = sql("-e", f"PRINT {name} FROM BEGINNING LIMIT 2", "--format", "json")
    rows = [json.loads(line) for line in printed.lines]
    assert [(row["key"], row["value"]) for row in rows] == [("a", '{"n":1}'), ("b", '{"n":null}')]
    described = sql("-e", f"DESCRIBE {name}")
    assert described.lines == ["COLUMN  TYPE    KEY", "k       STRING  KEY", "n       INT     -"]
    assert sql("-e", f"DROP STREAM {name} DELETE TOPIC").code == 0


def test_a_script_from_a_file_and_from_a_pipe(sql, name, tmp_path):
    script = tmp_path / "app.sql"
    script.write_text(f"CREATE STREAM {name} (n INT) WITH (partitions=1);\nSHOW STREAMS;\n")
    ran = sql(script, "--format", "json")
    assert ran.code == 0
    assert f'"message":"STREAM {name} created"' in ran.lines[0]
    shown = sql(stdin=b"SHOW STREAMS;")
    assert any(line.startswith(name) for line in shown.lines)
    sql("-e", f"DROP STREAM {name}")


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["-e", "SELEC 1"], 1, "line 1, column 1: no statement begins with 'SELEC'"),
        (["-e", "SHOW STREAMS;\nDROP STREAM nothing_here"], 1, "no stream or table"),
        (["-e", "SELECT * FROM nothing_here"], 1, "line 1, column 15"),
        (["no-such-file.sql"], 2, "no-such-file.sql: No such file"),
        (["-e", "SHOW STREAMS", "file.sql"], 2, "cannot be used together"),
        (["--format", "xml"], 2, "invalid choice"),
    ],
)
def test_errors(sql, arguments, code, words):
    ran = sql(*arguments)
    assert ran.code == code
    assert words in ran.err


def test_a_cluster_that_is_not_there(cli):
    ran = cli("sql", "-b", "localhost:1", "-e", "SHOW STREAMS")
    assert ran.code == 1
    assert "doctor" in ran.err


def test_ctrl_c_ends_a_script(broker, name, tmp_path):
    environment = {**os.environ, "BARNABAS_BOOTSTRAP_SERVERS": broker.bootstrap_servers}
    statements = f"""CREATE STREAM {name} (n INT) WITH (partitions=1);
                     INSERT INTO {name} VALUES (1);
                     PRINT {name} FROM BEGINNING;
                     DROP STREAM {name} DELETE TOPIC"""
    command = [sys.executable, "-m", "barnabas", "sql", "--state-dir", str(tmp_path)]
    with subprocess.Popen(
        [*command, "-e", statements],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        for _ in range(4):  # two messages, the header of PRINT and a row
            process.stdout.readline()
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 130
        assert (process.stdout.read(), process.stderr.read()) == (b"", b"")


def test_help_needs_nothing_heavy():
    code = (
        "import sys; from barnabas.cli.main import main\n"
        "try: main(['sql', '--help'])\n"
        "except SystemExit: pass\n"
        "heavy = {'sqlglot', 'pyspark', 'prompt_toolkit', 'pyarrow', 'pandas'} & set(sys.modules)\n"
        "sys.exit(f'imported {heavy}' if heavy else 0)"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, check=False)
    assert ran.returncode == 0, ran.stderr.decode()


def test_the_shell(broker, name, tmp_path, monkeypatch, capsys):
    """Typed lines: a statement over two of them, an error that ends nothing, and the way out."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    settings = {"bootstrap.servers": broker.bootstrap_servers}
    with (
        create_pipe_input() as keys,
        create_app_session(input=keys, output=DummyOutput()),
        Engine(settings, state_dir=tmp_path, topic=f"_sql_{name}", run_queries=False) as engine,
    ):
        keys.send_text(f"CREATE STREAM {name} (n INT)\rWITH (partitions=1);\r")
        keys.send_text("SELECT FROM;\r")
        keys.send_text("help\r")
        keys.send_text("SHOW STREAMS;\r")
        keys.send_text("exit\r")
        foreground = Foreground(lambda: engine.activity.text, engine.interrupt, StepLine())
        assert run_shell(engine, Printer("table", sys.stdout), foreground) == 0
    captured = capsys.readouterr()
    assert f"STREAM {name} created" in captured.out
    assert "Statements end with a semicolon" in captured.out
    assert f"{name}  {name}" in captured.out
    assert "line 1" in captured.err
    assert (tmp_path / "barnabas" / "sql_history").read_text().count("SHOW STREAMS") == 1


def test_completion():
    def topics():
        return ["orders", "users"]

    empty = Catalog()
    assert candidates("PRINT ", empty, topics) == ["orders", "users"]
    assert candidates("PRINT or", empty, topics) == ["orders", "users"]
    assert candidates("SELECT * FROM ", empty, topics) == []
    assert "SELECT" in candidates("SEL", empty, topics)
    assert candidates("TERMINATE ", empty, topics) == []


class Ended:
    closed = False

    def close(self):
        self.closed = True


def test_answers_as_text(capsys):
    ended = Ended()
    rows = iter([{"a": 1, "b": None}, {"a": 22, "b": "x"}])
    printer = Printer("table", sys.stdout)
    printer.show(StreamResult(["a", "b"], rows, ended.close))
    assert ended.closed
    printer.show(TableResult(["a"], [{"a": 1.25}]))
    printer.show(TextResult("done"))
    assert capsys.readouterr().out == "A  B\n1  -\n22  x\nA\n1.25\ndone\n"
    printer = Printer("json", sys.stdout)
    printer.show(StreamResult(["a"], iter([{"a": 1}]), ended.close))
    printer.show(TableResult(["a"], [{"a": 1}]))
    printer.show(TextResult("done", "Q_1"))
    out = capsys.readouterr().out
    assert out.startswith('{"a":1}\n[\n')
    assert out.endswith('{"message":"done","query":"Q_1"}\n')
