"""Runs a pipeline until it ends or a signal, with progress on stderr.

`pipeline` imports this module for the verb `run`: PySpark is an optional extra.
"""

import argparse
import signal
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from typing import TypeVar

from barnabas.cli.framework.connection import check_reachable
from barnabas.cli.framework.output import DONE, INTERRUPTED, own_stderr
from barnabas.model.config_keys.client import ADMIN_KEYS
from barnabas.model.errors import LocalError, UnavailableError
from barnabas.runtime.closing import ClosesOnExit
from barnabas.spark.options import SERVERS, admin_settings
from barnabas.spark.pipeline import AVAILABLE_NOW, Pipeline
from barnabas.spark.pipeline_files import PipelineFile, load
from barnabas.spark.pipeline_registry import FINISHED, PipelineRegistry
from barnabas.spark.query_metrics import MetricsServer, QueryFigures, QueryMetrics

T = TypeVar("T")
PLAIN_SECONDS = 10.0
"""Interval of the progress lines when stderr is not a terminal."""
SECOND_SIGNAL = "; a second signal stops at once"


class ProgressLine(ClosesOnExit):
    """Prints progress on stderr: a line that is redrawn on a terminal, else a line per interval.

    While Spark starts, standard error is redirected to Spark's log, so this class writes to a
    duplicate of the descriptor that it opened before.
    """

    def __init__(self, name: str, quiet: bool) -> None:
        self._name = name
        self._quiet = quiet
        self._stream, self._owns_stream = own_stderr()
        self._live = self._stream.isatty()
        self._last_line_s = float("-inf")
        self._pending: str | None = None

    def say(self, text: str) -> None:
        self.end()
        if not self._quiet:
            self._write(f"{text}\n")

    def show(self, figures: QueryFigures) -> None:
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
        self._stream.write(text)
        self._stream.flush()

    def close(self) -> None:
        self.end()
        if self._owns_stream:
            self._stream.close()


def run(arguments: argparse.Namespace) -> int:
    """Runs the pipeline of a file and returns the exit code."""
    file = _with_overrides(load(arguments.file), arguments)
    if arguments.check:
        sys.stdout.write(f"{arguments.file}: pipeline {file.pipeline.name!r} is well-formed\n")
        return DONE
    with ProgressLine(file.pipeline.name, arguments.quiet) as line:
        return _run(file, arguments, line)


def _run(file: PipelineFile, arguments: argparse.Namespace, line: ProgressLine) -> int:
    # Start-up time: imports PySpark, which `--check` does not need.
    from barnabas.streams.pipelines import PipelineRunner

    name, starting = file.pipeline.name, threading.Event()

    def on_signal() -> None:
        if starting.is_set():
            line.say(f"{name}: stopping when Spark has started{SECOND_SIGNAL}")

    def on_start(text: str) -> None:
        starting.clear()
        line.say(text)

    signals, metrics = StopSignals(on_signal), QueryMetrics()
    signals.install()
    runner = PipelineRunner(
        file,
        PipelineRegistry(arguments.state_dir),
        line.show,
        on_start,
        stop=signals.stop,
        metrics=metrics,
        on_stop=lambda text: line.say(f"{text}{SECOND_SIGNAL}"),
    )
    _warn_if_unreachable(file.pipeline, line)
    line.say(f"{name}: starting Spark ...")
    starting.set()
    with _served(metrics, arguments.http_port, line):
        state = in_thread(runner.run)
    line.say(f"{name} has {'ended' if state == FINISHED else 'stopped'}")
    return INTERRUPTED if signal.SIGINT in signals.received else DONE


def in_thread(work: Callable[[], T]) -> T:
    """Returns the result of `work`, which runs in a thread; the main thread handles signals.

    In the main thread PySpark would replace the handler of Ctrl-C with one that raises
    KeyboardInterrupt, also during a call to the JVM, whose connection is unusable afterwards.
    """
    with ThreadPoolExecutor(1, "pipeline") as executor:
        return executor.submit(work).result()


def _served(
    metrics: QueryMetrics, port: int | None, line: ProgressLine
) -> AbstractContextManager[object]:
    """Serves the metrics on a port of 127.0.0.1; raises LocalError if it is in use."""
    if port is None:
        return nullcontext()
    try:
        server = MetricsServer(metrics, port)
    except OSError as error:
        raise LocalError(f"port {port} for metrics: {error.strerror}") from error
    line.say(f"metrics at {server.url}")
    return server


def _warn_if_unreachable(pipeline: Pipeline, line: ProgressLine) -> None:
    """Warns immediately when no broker responds; the brokers may start later."""
    settings = admin_settings({**pipeline.kafka, SERVERS: pipeline.bootstrap_servers})
    try:
        check_reachable(ADMIN_KEYS.parse(settings))
    except UnavailableError as error:
        line.say(f"{pipeline.name}: {error}; Spark will retry")


def _with_overrides(file: PipelineFile, arguments: argparse.Namespace) -> PipelineFile:
    """Returns the definition with the overrides of the command line."""
    pipeline = file.pipeline
    if arguments.available_now:
        pipeline = replace(pipeline, trigger=AVAILABLE_NOW)
    if arguments.bootstrap_server:
        pipeline = replace(pipeline, bootstrap_servers=arguments.bootstrap_server)
    return replace(file, pipeline=pipeline)


class StopSignals:
    """SIGTERM and Ctrl-C request a clean stop; a second signal ends the process immediately."""

    def __init__(self, on_first: Callable[[], None]) -> None:
        self.stop = threading.Event()
        self.received: list[int] = []
        self._on_first = on_first

    def install(self) -> None:
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._on_signal)

    def _on_signal(self, number: int, _frame: object) -> None:
        self.received.append(number)
        self.stop.set()
        for either in (signal.SIGTERM, signal.SIGINT):
            signal.signal(either, signal.SIG_DFL)
        self._on_first()
