"""Runs one pipeline of a file until it ends, fails or is stopped, and records its status.

A stop waits for the current micro-batch, at most for the grace period, and then ends the query. A
micro-batch that was interrupted is processed again at the next start, from the checkpoint, and
written once.
"""

import logging
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import barnabas.spark
from barnabas.model.errors import LocalError
from barnabas.spark.jvm import short_reason, stderr_into
from barnabas.spark.pipeline import PipelineError
from barnabas.spark.pipeline_files import PipelineFile
from barnabas.spark.pipeline_registry import FAILED, FINISHED, RUNNING, STOPPED, PipelineRegistry
from barnabas.spark.query_lag import last_batch
from barnabas.spark.query_metrics import QueryFigures, QueryMetrics
from barnabas.streams.run import POLL_SECONDS, Running

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

GRACE_SECONDS = 30.0


@dataclass(slots=True)
class PipelineRunner:
    """One run of one pipeline.

    Args:
        file: The pipeline and the file that defines it.
        registry: Receives the status of the run.
        on_progress: Called after each micro-batch.
        on_start: Called with a message when the query has started.
        grace_s: How long a stop waits for the current micro-batch.
        stop: May be set by any thread or signal handler to end the run.
        metrics: Receives the progress of each micro-batch.
    """

    file: PipelineFile
    registry: PipelineRegistry
    on_progress: Callable[[QueryFigures], None]
    on_start: Callable[[str], None] = lambda _text: None
    grace_s: float = GRACE_SECONDS
    stop: threading.Event = field(default_factory=threading.Event)
    metrics: QueryMetrics | None = None
    _last: QueryFigures | None = None
    _last_batch: int | None = None
    _started: str = ""

    def run(self, spark: "SparkSession | None" = None) -> str:
        """Runs the pipeline and returns its final state.

        Raises:
            ConfigError: The definition is invalid; names the file and the line.
            LocalError: The pipeline is running already, or its query has failed.
        """
        pipeline = self.file.pipeline
        with self.registry.running(pipeline.name):
            self._started = _now()
            self._write_status(RUNNING)
            try:
                return self._run(spark)
            except BaseException as error:
                self._write_status(FAILED, error=str(error))
                if self.metrics is not None:
                    self.metrics.ended(pipeline.name, failed=True)
                raise

    def _run(self, spark: "SparkSession | None") -> str:
        own = None if spark is not None else self._session()
        try:
            return self._follow(self._start(spark or own))
        finally:
            if own is not None:
                own.stop()

    def _session(self) -> "SparkSession":
        pipeline = self.file.pipeline
        # For a mistake in an expression PySpark would log a page of JSON.
        logging.getLogger("SQLQueryContextLogger").setLevel(logging.CRITICAL)
        settings = {"spark.log.level": "ERROR", "spark.ui.enabled": "false", **pipeline.spark}
        with stderr_into(self.registry.log_file(pipeline.name)):
            return barnabas.spark.session(pipeline.master, app_name=pipeline.name, config=settings)

    def _start(self, spark: Any) -> Running:
        # Start-up time: imports pyspark, which `barnabas pipeline run --check` does not need.
        from barnabas.streams.pipelines import pipeline_query, start_query

        pipeline = self.file.pipeline
        try:
            query = pipeline_query(pipeline, spark)
            started = start_query(query, pipeline.trigger)
        except PipelineError as error:
            raise error.at(self.file.locate(error.key)) from error
        self.on_start(f"{pipeline.name} runs, query {started.id}")
        return Running(pipeline.name, [query], [started])

    def _follow(self, running: Running) -> str:
        while running.active and not self.stop.wait(POLL_SECONDS):
            self._report(running)
        state = FINISHED if not self.stop.is_set() else STOPPED
        if running.active:
            running.let_batches_end(self.grace_s)
        running.stop()
        self._report(running)
        error = running.queries[0].exception()
        if error is not None and state == FINISHED:
            log = self.registry.log_file(self.file.pipeline.name)
            text = f"{self.file.path}: the query has failed: {short_reason(error)}"
            raise LocalError(f"{text} (Spark's log: {log})")
        self._write_status(state)
        return state

    def _report(self, running: Running) -> None:
        figures = self._last
        for progress in running.progress_after(self._last_batch):
            figures = QueryFigures.of(progress, figures)
            self._last_batch = last_batch(progress)
            if self.metrics is not None:
                self.metrics.record(self.file.pipeline.name, progress)
        if figures is not None and figures != self._last:
            self._last = figures
            self.on_progress(figures)
            self._write_status(RUNNING)

    def _write_status(self, state: str, *, error: str | None = None) -> None:
        pipeline = self.file.pipeline
        figures = self._last.document() if self._last else {}
        self.registry.write(
            pipeline.name,
            {
                "name": pipeline.name,
                "state": state,
                "error": error,
                "file": str(self.file.path.resolve()),
                "checkpoint": pipeline.checkpoint,
                "started": self._started,
                "updated": _now(),
                **figures,
            },
        )


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
