"""Typed settings of a client's metrics."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from barnabas.clients.metrics.reporters import MetricsReporter, load_reporters


@dataclass(frozen=True, slots=True)
class MetricsSettings:
    """Settings of `ClientMetrics`, of the reporters and of the push to brokers."""

    samples: int = 2
    window_ms: int = 30_000
    debug: bool = False
    """Whether metrics of the level DEBUG are recorded."""
    push: bool = False
    reporters: tuple[MetricsReporter, ...] = ()
    report_interval_s: float = 30.0

    @classmethod
    def from_values(cls, values: Mapping[str, Any]) -> "MetricsSettings":
        """Returns the settings in the values of a table that includes `METRICS_KEYS`.

        Raises:
            ConfigError: A reporter cannot be loaded or configured.
        """
        return cls(
            samples=values["metrics.num.samples"],
            window_ms=values["metrics.sample.window.ms"],
            debug=values["metrics.recording.level"] != "INFO",
            push=values["enable.metrics.push"],
            reporters=load_reporters(values),
            report_interval_s=values["metrics.report.interval.ms"] / 1000,
        )
