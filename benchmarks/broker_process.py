"""A broker in a process of its own, with its CPU time and memory."""

import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psutil


@dataclass(frozen=True, slots=True)
class BrokerProcess:
    """A running `barnabas up`."""

    address: str
    data_dir: Path
    started_in_s: float
    process: psutil.Process

    def cpu_seconds(self) -> float:
        times = self.process.cpu_times()
        return float(times.user + times.system)

    def resident_mib(self) -> float:
        return float(self.process.memory_info().rss) / 1024**2


@contextmanager
def broker(options: Sequence[str] = (), parent: Path | None = None) -> Iterator[BrokerProcess]:
    """Start a broker on a free port and a directory of its own; stop it and clean up after."""
    with tempfile.TemporaryDirectory(prefix="barnabas-bench-", dir=parent) as directory:
        command = [sys.executable, "-m", "barnabas.cli.main", "up", "--port", "0"]
        begin = time.perf_counter()
        child = subprocess.Popen(
            [*command, "--data-dir", directory, *options], stdout=subprocess.PIPE, text=True
        )
        try:
            address = wait_for_address(child)
            elapsed = time.perf_counter() - begin
            yield BrokerProcess(address, Path(directory), elapsed, psutil.Process(child.pid))
        finally:
            child.terminate()
            child.wait(timeout=30)


def wait_for_address(child: "subprocess.Popen[str]") -> str:
    assert child.stdout is not None
    for line in child.stdout:
        if "listening on" in line:
            return line.rsplit(" ", 1)[1].strip()
    raise RuntimeError("the broker ended before it listened")
