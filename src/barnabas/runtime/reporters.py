"""Calls the reporters of `metric.reporters`, of clients and of brokers, periodically in a thread.

A reporter may be slow or fail: no event loop waits for it, and an exception is logged once until
the reporter succeeds again. The reporter for JSON lines is here; the one for OpenTelemetry needs an
optional package and has its own module.
"""

import asyncio
import json
import logging
import math
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol, TextIO, cast

from barnabas.model.config import ConfigValues
from barnabas.model.errors import ConfigError
from barnabas.runtime.clock import SystemClock
from barnabas.runtime.metric_types import Metric
from barnabas.runtime.plugins import close, configure, instance_of, is_path, load

logger = logging.getLogger(__name__)

SETTING = "metric.reporters"
BUILT_IN = {
    "json": "barnabas.runtime.reporters:JsonReporter",
    "otlp": "barnabas.runtime.otlp_reporter:OtlpReporter",
}
WITHOUT_EFFECT = "org.apache.kafka.common.metrics.JmxReporter"
CLOSE_SECONDS = 2.0
"""Longest time that `wait()` waits for the last report."""
FILE_SETTING = "metrics.json.file"
END_CHECK_SECONDS = 0.005


class MetricsReporter(Protocol):
    """Gets all metrics of a client or broker periodically, and once more when it is closed.

    `configure(config)` and `close()` are called if the reporter has them: once before the first
    report, with all settings of the client or broker, and once after the last one. All calls but
    `configure` come from one thread.

    >>> class Printer:
    ...     def report(self, metrics, now_ms):
    ...         for metric in metrics:
    ...             print(metric.name.name, metric.value)
    """

    def report(self, metrics: Sequence[Metric], now_ms: int) -> None:
        """Handles the current values; `now_ms` is the time in milliseconds since 1970."""
        ...


def load_reporters(values: ConfigValues) -> tuple[MetricsReporter, ...]:
    """Returns the configured reporters.

    Raises:
        ConfigError: A reporter has an unknown name, cannot be imported or has no method report().
    """
    return tuple(_make_reporter(found, values) for found in _find_reporters(values[SETTING]))


def check_reporters(names: Sequence[str]) -> None:
    """Raises ConfigError for a name that `load_reporters` would not find; creates no reporter."""
    _find_reporters(names)


def _find_reporters(names: Sequence[object]) -> list[object]:
    """Returns the objects or classes of the given reporters."""
    return [_find_reporter(given) for given in names if given != WITHOUT_EFFECT]


def _find_reporter(given: object) -> object:
    path = BUILT_IN.get(given, given) if isinstance(given, str) else given
    if isinstance(path, str) and not is_path(path):
        names = ", ".join(sorted(BUILT_IN))
        raise ConfigError(f"{SETTING}={given!r}: must be {names}, or the import path of a class")
    found = load(path, SETTING) if isinstance(path, str) else path
    if not callable(getattr(found, "report", None)):
        raise ConfigError(f"{SETTING}={given!r}: has no method report(metrics, now_ms)")
    return found


def _make_reporter(found: object, values: Mapping[str, object]) -> MetricsReporter:
    reporter = instance_of(found, SETTING)
    configure(reporter, SETTING, dict(values))
    return cast(MetricsReporter, reporter)


class ReporterThread:
    """Reports until `close()`; a daemon thread, which does not delay the interpreter's exit."""

    def __init__(
        self,
        reporters: Sequence[MetricsReporter],
        read: Callable[[], Sequence[Metric]],
        interval_s: float,
    ) -> None:
        self._reporters = reporters
        self._read = read
        self._interval_s = interval_s
        self._failing: set[int] = set()
        self._closing = threading.Event()
        self._ended = threading.Event()
        self._clock = SystemClock()
        threading.Thread(target=self._run, name="barnabas-metrics", daemon=True).start()

    def close(self) -> None:
        """Starts the last report; `wait` waits for its end."""
        self._closing.set()

    async def wait(self) -> None:
        """Waits up to two seconds for the last report."""
        loop = asyncio.get_running_loop()
        deadline_s = loop.time() + CLOSE_SECONDS
        while not self._ended.is_set():
            if loop.time() >= deadline_s:
                logger.warning(
                    "%s: the last report did not end within %g s", SETTING, CLOSE_SECONDS
                )
                return
            await asyncio.sleep(END_CHECK_SECONDS)

    def _run(self) -> None:
        while not self._closing.wait(self._interval_s):
            self._report()
        self._report()
        for reporter in self._reporters:
            close(reporter)
        self._ended.set()

    def _report(self) -> None:
        try:
            metrics = self._read()
        except Exception as error:  # noqa: BLE001 - logged; the next report may succeed
            self._log_once(self._read, error)
            return
        self._failing.discard(id(self._read))
        now_ms = self._clock.now_ms()
        for reporter in self._reporters:
            try:
                reporter.report(metrics, now_ms)
                self._failing.discard(id(reporter))
            except Exception as error:  # noqa: BLE001 - logged; of the application's class
                self._log_once(reporter, error)

    def _log_once(self, failed: object, error: Exception) -> None:
        """Logs the first of several failures in a row."""
        if id(failed) not in self._failing:
            self._failing.add(id(failed))
            logger.warning("%s: %r failed: %s", SETTING, failed, error, exc_info=True)


class JsonReporter:
    """Appends one JSON object per report to `metrics.json.file`, or writes it to stderr.

    Each line is an object with `time_ms` and `metrics`, a list of objects with `name`, `group`,
    `tags`, `value` and `unit`. Metrics without a value (NaN) are left out.
    """

    def __init__(self) -> None:
        self._file: TextIO | None = None

    def configure(self, config: Mapping[str, Any]) -> None:
        path = config.get(FILE_SETTING)
        if path is None:
            return
        try:
            self._file = Path(path).open("a", encoding="utf-8")  # noqa: SIM115 - open until close()
        except OSError as error:
            raise ConfigError(f"{FILE_SETTING}={path!r}: {error.strerror or error}") from error

    def report(self, metrics: Sequence[Metric], now_ms: int) -> None:
        values = [_json_value(metric) for metric in metrics if not math.isnan(metric.value)]
        file = sys.stderr if self._file is None else self._file
        file.write(json.dumps({"time_ms": now_ms, "metrics": values}) + "\n")
        file.flush()

    def close(self) -> None:
        if self._file is not None:
            self._file.close()


def _json_value(metric: Metric) -> dict[str, object]:
    return {
        "name": metric.name.name,
        "group": metric.name.group,
        "tags": dict(metric.name.tags),
        "value": metric.value,
        "unit": metric.unit,
    }
