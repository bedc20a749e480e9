"""Writes metrics as JSON lines: one object per report, to a file or to stderr."""

import json
import math
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TextIO

from barnabas.clients.metrics.metric_types import Metric
from barnabas.model.errors import ConfigError

SETTING = "metrics.json.file"


class JsonReporter:
    """Appends lines to `metrics.json.file`, or writes them to stderr.

    Each line is an object with `time_ms` and `metrics`, a list of objects with `name`, `group`,
    `tags`, `value` and `unit`. Metrics without a value (NaN) are left out.
    """

    def __init__(self) -> None:
        self._file: TextIO | None = None

    def configure(self, config: Mapping[str, Any]) -> None:
        path = config.get(SETTING)
        if path is None:
            return
        try:
            self._file = Path(path).open("a", encoding="utf-8")  # noqa: SIM115 - open until close()
        except OSError as error:
            raise ConfigError(f"{SETTING}={path!r}: {error.strerror or error}") from error

    def report(self, metrics: Sequence[Metric], now_ms: int) -> None:
        values = [_value(metric) for metric in metrics if not math.isnan(metric.value)]
        file = sys.stderr if self._file is None else self._file
        file.write(json.dumps({"time_ms": now_ms, "metrics": values}) + "\n")
        file.flush()

    def close(self) -> None:
        if self._file is not None:
            self._file.close()


def _value(metric: Metric) -> dict[str, object]:
    return {
        "name": metric.name.name,
        "group": metric.name.group,
        "tags": dict(metric.name.tags),
        "value": metric.value,
        "unit": metric.unit,
    }
