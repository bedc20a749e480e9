"""Processes of clients that run jobs of the matrix; each serves jobs of one client.

A process is started when it is needed first, and kept: an interpreter with its imports takes longer
to start than most jobs take. A process that fails or needs more than `TIMEOUT` seconds for a job is
ended, and the next job starts a new one.
"""

import json
import subprocess
import sys
import threading
from contextlib import suppress

from benchmarks.workload import Job

TIMEOUT = 120.0
Figures = dict[str, float]


class ClientProcesses:
    """The processes of a run; `close` ends them."""

    def __init__(self) -> None:
        self._children: dict[tuple[str, int], subprocess.Popen[str]] = {}

    def __enter__(self) -> "ClientProcesses":
        return self

    def __exit__(self, *_error: object) -> None:
        for child in self._children.values():
            child.kill()
            child.communicate()
        self._children.clear()

    def run(self, job: Job, processes: int) -> list[Figures]:
        """Runs the job in several processes, which begin together.

        Raises:
            RuntimeError: A process ended or did not finish in time.
        """
        client = job.workload.client
        children = [self._child(client, number) for number in range(processes)]
        timer = threading.Timer(TIMEOUT, lambda: [child.kill() for child in children])
        timer.start()
        try:
            for child in children:
                _write(child, job.to_text())
            for child in children:
                _expect(child, job, "ready")
            for child in children:
                _write(child, "")
            return [json.loads(_expect(child, job, "{")) for child in children]
        except RuntimeError:
            self._end(client, processes)
            raise
        finally:
            timer.cancel()

    def _child(self, client: str, number: int) -> "subprocess.Popen[str]":
        child = self._children.get((client, number))
        if child is None:
            command = [sys.executable, "-m", "benchmarks.loads", client]
            pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
            child = subprocess.Popen(command, text=True, **pipes)  # type: ignore[call-overload]
            self._children[client, number] = child
        return child

    def _end(self, client: str, processes: int) -> None:
        for number in range(processes):
            child = self._children.pop((client, number))
            child.kill()
            child.communicate()


def _write(child: "subprocess.Popen[str]", line: str) -> None:
    assert child.stdin is not None
    with suppress(BrokenPipeError):  # it has ended, so reading its output fails
        child.stdin.write(line + "\n")
        child.stdin.flush()


def _expect(child: "subprocess.Popen[str]", job: Job, begin: str) -> str:
    assert child.stdout is not None
    line = child.stdout.readline()
    if not line.startswith(begin):
        load = job.workload
        raise RuntimeError(f"{load.client} failed or took too long in the cell {load.name!r}")
    return line
