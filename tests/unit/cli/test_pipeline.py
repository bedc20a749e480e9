"""`barnabas pipeline`: what needs no Spark."""

import json
import os
import signal
import sys
import threading
from dataclasses import asdict

import pytest

from barnabas.cli.main import main
from barnabas.cli.nouns import pipeline_run
from barnabas.model.errors import LocalError
from barnabas.spark.pipeline_registry import RUNNING, STOPPED, PipelineRegistry
from barnabas.spark.query_metrics import QueryFigures

YAML = """\
name: p
source: {topic: in}
sink: {topic: out, format: raw}
checkpoint: /tmp/c
"""


@pytest.fixture
def state(tmp_path, monkeypatch):
    monkeypatch.setenv("BARNABAS_STATE_DIR", str(tmp_path / "state"))
    return PipelineRegistry()


def test_check_reads_the_file_and_runs_nothing(tmp_path, capsys):
    path = tmp_path / "p.yaml"
    path.write_text(YAML)
    assert main(["pipeline", "run", str(path), "--check"]) == 0
    assert "pipeline 'p' is well-formed" in capsys.readouterr().out
    path.write_text(YAML.replace("topic: out", "topics: out"))
    assert main(["pipeline", "run", str(path), "--check"]) == 2
    assert f"{path}:3: sink.topics: is not a key here" in capsys.readouterr().err


def test_a_directory_is_not_a_file(tmp_path, capsys):
    assert main(["pipeline", "run", str(tmp_path), "-b", "localhost:1", "--check"]) == 2
    assert capsys.readouterr().err == f"barnabas pipeline: {tmp_path}: is not a file\n"


def test_list_and_status(state, capsys):
    assert main(["pipeline", "list", "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out) == []
    figures = asdict(QueryFigures(3, 10, 99.5, 0, 101))
    with state.running("a"):
        state.write("a", {"name": "a", "state": STOPPED, "error": None, **figures})
        state.write("b", {"name": "b", "state": RUNNING})
    assert main(["pipelines", "list"]) == 0
    told = capsys.readouterr().out.splitlines()
    assert told[0].split() == [
        "NAME", "STATE", "BATCH", "ROWS-PER-SECOND", "LAG", "BATCH-MS", "UPDATED",
    ]  # fmt: skip
    assert [line.split()[:2] for line in told[1:]] == [["a", "stopped"], ["b", "died"]]
    assert main(["pipeline", "status", "a"]) == 0
    assert "rows_per_second: 99.5" in capsys.readouterr().out
    assert main(["pipeline", "status", "b", "--format", "json"]) == 1
    assert json.loads(capsys.readouterr().out)["state"] == "died"
    assert main(["pipeline", "status", "c"]) == 1
    assert "no pipeline 'c' has run here" in capsys.readouterr().err


def test_two_pipelines_cannot_share_a_checkpoint(state, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with state.running("a"), state.owning("./checkpoint", "a"):
        with state.running("b"), pytest.raises(LocalError, match="used by the pipeline 'a'"):
            state.owning(str(tmp_path / "checkpoint"), "b").__enter__()
        with state.owning("s3a://bucket/checkpoint", "b"):
            pass
    with state.owning("checkpoint", "b"):
        pass


def test_without_a_terminal_lines_come_now_and_then(capsys):
    line = pipeline_run.ProgressLine("p", quiet=False)
    for batch in range(3):
        line.show(QueryFigures(batch, 1, 1.0, None, 5))
    line.end()
    told = capsys.readouterr().err.splitlines()
    assert [text.split("  ")[1] for text in told] == ["batch 0", "batch 2"]


def test_on_a_terminal_one_line_is_drawn_again(capsys, monkeypatch):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    line = pipeline_run.ProgressLine("p", quiet=False)
    for batch in range(2):
        line.show(QueryFigures(batch, 1, 1.0, 4, 5))
    line.say("bye")
    told = capsys.readouterr().err
    assert told.split("\r\x1b[K")[1:] == [
        "p  batch 0  1 rows/s  lag 4  5 ms",
        "p  batch 1  1 rows/s  lag 4  5 ms\nbye\n",
    ]


def test_quiet_is_quiet(capsys):
    line = pipeline_run.ProgressLine("p", quiet=True)
    line.say("hello")
    line.show(QueryFigures(0, 1, 1.0, 4, 5))
    line.end()
    assert capsys.readouterr().err == ""


@pytest.fixture
def kept():
    """The handlers of the signals, which are restored after the test."""
    handlers = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)}
    yield handlers
    for number, handler in handlers.items():
        signal.signal(number, handler)


def test_the_first_signal_asks_the_second_ends(kept):
    told = []
    signals = pipeline_run.StopSignals(lambda: told.append("first"))
    signals.install()
    signal.raise_signal(signal.SIGTERM)
    assert signals.stop.is_set()
    assert (signals.received, told) == ([signal.SIGTERM], ["first"])
    assert {signal.getsignal(number) for number in kept} == {signal.SIG_DFL}


class StartingRunner:
    """A runner that is stopped while it starts Spark.

    In the main thread PySpark replaces the handler of SIGINT with one that raises an exception.
    """

    def __init__(self, *_arguments, stop, **_options):
        self._stop = stop

    def run(self):
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGINT, signal.default_int_handler)
        os.kill(os.getpid(), signal.SIGINT)
        assert self._stop.wait(30)
        return STOPPED


@pytest.mark.usefixtures("kept", "state")
def test_a_signal_while_spark_starts_stops_the_pipeline(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("barnabas.streams.pipelines.PipelineRunner", StartingRunner)
    path = tmp_path / "p.yaml"
    path.write_text(YAML)
    assert main(["pipeline", "run", str(path), "-b", "localhost:1"]) == 130
    assert capsys.readouterr().err.splitlines()[-2:] == [
        "p: stopping when Spark has started; a second signal stops at once",
        "p has stopped",
    ]
