"""Runs one pipeline until it ends, fails, or is told to stop.

A stop lets the micro-batch that is under way end, within a grace, and then ends the query; what was
cut off after that is done again at the next start, from the checkpoint, and written once.
"""

import logging
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from barnabas.model.errors import LocalError
from barnabas.spark import lag, session
from barnabas.spark.jvm_log import stderr_into
from barnabas.spark.pipeline.assembly import assemble
from barnabas.spark.pipeline.errors import PipelineError
from barnabas.spark.pipeline.files import PipelineFile
from barnabas.spark.pipeline.progress import Figures
from barnabas.spark.pipeline.registry import FAILED, FINISHED, RUNNING, STOPPED, Registry
from barnabas.spark.spark_errors import short_reason

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

LOOK_SECONDS = 0.2
GRACE_SECONDS = 30.0

OnProgress = Callable[[Figures], None]


@dataclass(slots=True)
class Runner:
    """One run of one pipeline. `stop` may be set by any thread or signal handler."""

    file: PipelineFile
    registry: Registry
    on_progress: OnProgress
    on_start: Callable[[str], None] = lambda _text: None
    grace_s: float = GRACE_SECONDS
    stop: threading.Event = field(default_factory=threading.Event)
    _last: Figures | None = None
    _started: str = ""

    def run(self, spark: "SparkSession | None" = None) -> str:
        """Until the end; the state it ended in. LocalError when the query fails."""
        pipeline = self.file.pipeline
        with self.registry.running(pipeline.name):
            self._started = _now()
            self._note(RUNNING)
            try:
                return self._run(spark)
            except BaseException as error:
                self._note(FAILED, error=str(error))
                raise

    def _run(self, spark: "SparkSession | None") -> str:
        own = None if spark is not None else self._session()
        try:
            query = self._start(spark or own)
            return self._follow(query)
        finally:
            if own is not None:
                own.stop()

    def _session(self) -> "SparkSession":
        pipeline = self.file.pipeline
        # A mistake in an expression PySpark would print as a page of JSON.
        logging.getLogger("SQLQueryContextLogger").setLevel(logging.CRITICAL)
        settings = {"spark.log.level": "ERROR", "spark.ui.enabled": "false", **pipeline.spark}
        with stderr_into(self.registry.log_file(pipeline.name)):
            return session(pipeline.master, app_name=pipeline.name, config=settings)

    def _start(self, spark: Any) -> "StreamingQuery":
        try:
            query = assemble(spark, self.file.pipeline).start()
        except PipelineError as error:
            raise error.at(self.file.locate(error.key)) from error
        self.on_start(f"{self.file.pipeline.name} runs, query {query.id}")
        return query

    def _follow(self, query: "StreamingQuery") -> str:
        while query.isActive and not self.stop.wait(LOOK_SECONDS):
            self._look(query)
        state = FINISHED if not self.stop.is_set() else STOPPED
        if query.isActive:
            self._let_batch_end(query)
            query.stop()
        self._look(query)
        error = query.exception()
        if error is not None and state == FINISHED:
            log = self.registry.log_file(self.file.pipeline.name)
            text = f"{self.file.path}: the query has failed: {short_reason(error)}"
            raise LocalError(f"{text} (Spark's log: {log})")
        self._note(state)
        return state

    def _let_batch_end(self, query: "StreamingQuery") -> None:
        deadline, at = time.monotonic() + self.grace_s, _batch(query)
        pause = threading.Event()
        while query.isActive and time.monotonic() < deadline:
            if not query.status["isTriggerActive"] or _batch(query) != at:
                return
            pause.wait(LOOK_SECONDS / 4)

    def _look(self, query: "StreamingQuery") -> None:
        progress = query.lastProgress
        if progress is None:
            return
        behind = lag(progress)
        figures = Figures.of(progress, None if behind is None else behind.total)
        if figures != self._last:
            self._last = figures
            self.on_progress(figures)
            self._note(RUNNING)

    def _note(self, state: str, *, error: str | None = None) -> None:
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


def _batch(query: "StreamingQuery") -> int:
    progress = query.lastProgress
    return -1 if progress is None else int(progress["batchId"])


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
