"""Run a pipeline on Spark from a file, and show the pipelines of this machine."""

import argparse
import signal
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from barnabas.cli.framework.exit_codes import DONE, FAILED, INTERRUPTED
from barnabas.cli.framework.render import add_format_option, show, show_document
from barnabas.cli.framework.verbs import Verb, add_verbs, run_verb
from barnabas.model.errors import UnavailableError

if TYPE_CHECKING:
    from barnabas.streams.pipeline_runner import Figures

LIST_COLUMNS = ("name", "state", "batch", "rows_per_second", "lag", "batch_ms", "updated")
PLAIN_SECONDS = 10.0
"""Interval of the progress lines when stderr is not a terminal."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_verbs(parser, VERBS)


run = run_verb


class ProgressLine:
    """Prints progress on stderr: a line that is redrawn on a terminal, else a line per interval."""

    def __init__(self, name: str, quiet: bool) -> None:
        self._name = name
        self._quiet = quiet
        self._live = sys.stderr.isatty()
        self._last_line_s = float("-inf")
        self._pending: str | None = None

    def say(self, text: str) -> None:
        self.end()
        if not self._quiet:
            sys.stderr.write(f"{text}\n")
            sys.stderr.flush()

    def show(self, figures: "Figures") -> None:
        line = figures.line(self._name)
        if self._quiet:
            return
        if self._live:
            self._write(f"\r\x1b[K{line}")
            self._pending = ""
        elif time.monotonic() - self._last_line_s >= PLAIN_SECONDS:
            self._last_line_s = time.monotonic()
            self._write(f"{line}\n")
            self._pending = None
        else:
            self._pending = line

    def end(self) -> None:
        """Ends the current line and prints progress that was not printed yet."""
        if self._pending is not None:
            self._write(f"{self._pending}\n")
        self._pending = None

    def _write(self, text: str) -> None:
        sys.stderr.write(text)
        sys.stderr.flush()


def _run_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", type=Path, metavar="FILE", help="a .py, .yaml or .yml file")
    parser.add_argument(
        "--check", action="store_true", help="check the file without running the pipeline"
    )
    parser.add_argument(
        "--available-now", action="store_true", help="process the existing records, then end"
    )
    parser.add_argument(
        "--bootstrap-server", metavar="HOST:PORT", help="overrides the setting of the file"
    )
    parser.add_argument("-q", "--quiet", action="store_true", help="show no progress")
    _state_dir_argument(parser)


def _run(arguments: argparse.Namespace) -> int:
    # PySpark is an optional extra.
    from barnabas.spark.pipeline.files import load

    file = _with_overrides(load(arguments.file), arguments)
    if arguments.check:
        sys.stdout.write(f"{arguments.file}: pipeline {file.pipeline.name!r} is well-formed\n")
        return DONE
    from barnabas.spark.pipeline.registry import FINISHED, Registry
    from barnabas.streams.pipeline_runner import PipelineRunner

    line, stop = ProgressLine(file.pipeline.name, arguments.quiet), threading.Event()
    signals = StopSignals(stop)

    def on_start(text: str) -> None:
        signals.install()
        line.say(text)

    signals.install()
    runner = PipelineRunner(file, Registry(arguments.state_dir), line.show, on_start, stop=stop)
    _warn_if_unreachable(file.pipeline, line)
    line.say(f"{file.pipeline.name}: starting Spark ...")
    try:
        state = runner.run()
    finally:
        line.end()
    line.say(f"{file.pipeline.name} has {'ended' if state == FINISHED else 'stopped'}")
    return INTERRUPTED if signal.SIGINT in signals.received else DONE


def _warn_if_unreachable(pipeline: Any, line: ProgressLine) -> None:
    """Warns immediately when no broker responds; the brokers may start later."""
    from barnabas.cli.framework.connection import check_reachable
    from barnabas.model.config_keys.admin import ADMIN_KEYS
    from barnabas.spark.client_settings import SERVERS, admin_settings

    settings = admin_settings({**pipeline.kafka, SERVERS: pipeline.bootstrap_servers})
    try:
        check_reachable(ADMIN_KEYS.parse(settings))
    except UnavailableError as error:
        line.say(f"{pipeline.name}: {error}; Spark will retry")


def _with_overrides(file: Any, arguments: argparse.Namespace) -> Any:
    """Returns the definition with the overrides of the command line."""
    from dataclasses import replace

    from barnabas.spark.pipeline.definition import AVAILABLE_NOW

    changes: dict[str, str] = {}
    if arguments.available_now:
        changes["trigger"] = AVAILABLE_NOW
    if arguments.bootstrap_server:
        changes["bootstrap_servers"] = arguments.bootstrap_server
    return replace(file, pipeline=replace(file.pipeline, **changes))


class StopSignals:
    """SIGTERM and Ctrl-C request a clean stop; a second signal ends the process immediately."""

    def __init__(self, stop: threading.Event) -> None:
        self.received: list[int] = []
        self._stop = stop

    def install(self) -> None:
        """Installs the handlers; called again after Spark has started, which replaces them."""
        for number in (signal.SIGTERM, signal.SIGINT):
            if number not in self.received:
                signal.signal(number, self._on_signal)

    def _on_signal(self, number: int, _frame: object) -> None:
        self.received.append(number)
        self._stop.set()
        signal.signal(number, signal.SIG_DFL)


def _list_arguments(parser: argparse.ArgumentParser) -> None:
    add_format_option(parser)
    _state_dir_argument(parser)


def _list(arguments: argparse.Namespace) -> int:
    from barnabas.spark.pipeline.registry import Registry

    show(arguments, Registry(arguments.state_dir).read_all(), LIST_COLUMNS)
    return DONE


def _status_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", metavar="NAME")
    add_format_option(parser)
    _state_dir_argument(parser)


def _status(arguments: argparse.Namespace) -> int:
    from barnabas.spark.pipeline import registry

    document = registry.Registry(arguments.state_dir).read(arguments.name)
    lines = [f"{name}: {value}" for name, value in document.items() if value is not None]
    show_document(arguments, document, "\n".join(lines))
    return FAILED if document["state"] in (registry.FAILED, registry.DIED) else DONE


def _state_dir_argument(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--state-dir",
        type=Path,
        default=None,
        help="directory of the run states"
        " (default: $BARNABAS_STATE_DIR or ~/.local/state/barnabas)",
    )


VERBS = (
    Verb(
        "run",
        "run a pipeline in the foreground, starting at its checkpoint",
        "barnabas pipeline run orders.yaml",
        _run_arguments,
        _run,
    ),
    Verb(
        "list",
        "the pipelines that ran on this machine",
        "barnabas pipeline list",
        _list_arguments,
        _list,
        ("ls",),
    ),
    Verb(
        "status",
        "show the status of a pipeline; exit code 1 when it failed or died",
        "barnabas pipeline status orders --format json",
        _status_arguments,
        _status,
    ),
)
