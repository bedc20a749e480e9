"""What a producer run has sent: totals, and the lines that Apache's tool prints of them."""

import time
from dataclasses import dataclass, field

from barnabas.cli.perf.latencies import Latencies

MEGABYTE = 1024 * 1024


@dataclass(slots=True)
class SendStats:
    """Counts from when it is made; a window is what came since the last line."""

    latencies: Latencies = field(default_factory=Latencies)
    count: int = 0
    size: int = 0
    largest: int = 0
    started: float = field(default_factory=time.perf_counter)
    ended: float | None = None
    _window: tuple[int, int, int, float] | None = None

    def sent(self, size: int) -> None:
        self.count += 1
        self.size += size
        self.largest = max(self.largest, size)

    @property
    def seconds(self) -> float:
        return max((self.ended or time.perf_counter()) - self.started, 1e-6)

    def window_line(self, interval_s: float) -> str | None:
        """The line of a reporting interval, once it is over."""
        now = time.perf_counter()
        count, size, timed, since = self._window or (0, 0, 0, self.started)
        if now - since < interval_s:
            return None
        elapsed, values = now - since, self.latencies.values_ms[timed:]
        self._window = (self.count, self.size, timed + len(values), now)
        average = sum(values) / len(values) if values else 0.0
        sent, megabytes = self.count - count, (self.size - size) / MEGABYTE
        return (
            f"{sent} records sent, {sent / elapsed:.1f} records/sec "
            f"({megabytes / elapsed:.2f} MB/sec), {average:.1f} ms avg latency, "
            f"{max(values, default=0.0):.1f} ms max latency."
        )

    def total_line(self, kind: str = "") -> str:
        """The last line; `kind` is " steady state" for what came after the warm-up."""
        latencies = self.latencies
        shares = ((0.5, "50th"), (0.95, "95th"), (0.99, "99th"), (0.999, "99.9th"))
        tail = ", ".join(f"{latencies.percentile(share):.0f} ms {name}" for share, name in shares)
        return (
            f"{self.count}{kind} records sent, {self.count / self.seconds:.1f} records/sec "
            f"({self.size / self.seconds / MEGABYTE:.2f} MB/sec), {latencies.average:.2f} ms avg "
            f"latency, {latencies.highest:.2f} ms max latency, {tail}."
        )
