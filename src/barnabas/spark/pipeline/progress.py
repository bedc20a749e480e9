"""How a running pipeline does: Spark's progress in three figures, as a line for people.

spending  batch 41  1,204 rows/s  lag 0  95 ms
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Figures:
    """Of the last micro-batch that was done; `lag` is None while no source tells it."""

    batch: int
    rows: int
    rows_per_second: float
    lag: int | None
    batch_ms: int

    @classmethod
    def of(cls, progress: Mapping[str, Any], lag: int | None) -> "Figures":
        """From Spark's progress of a query."""
        rows = int(progress["numInputRows"])
        batch_ms = int(progress["durationMs"].get("triggerExecution", 0))
        rate = rows / batch_ms * 1000 if batch_ms else 0.0
        return cls(int(progress["batchId"]), rows, round(rate, 1), lag, batch_ms)

    def document(self) -> dict[str, Any]:
        return asdict(self)

    def line(self, name: str) -> str:
        """
        >>> Figures(41, 114, 1204.3, 0, 95).line("spending")
        'spending  batch 41  1,204 rows/s  lag 0  95 ms'
        """
        lag = "-" if self.lag is None else f"{self.lag:,}"
        rate = f"{self.rows_per_second:,.0f} rows/s"
        return f"{name}  batch {self.batch}  {rate}  lag {lag}  {self.batch_ms:,} ms"
