"""Runs a broker in a separate process: `barnabas broker` with a properties file.

The broker process ends when this process ends, even if this process is killed.
"""

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import IO

from barnabas.model.errors import DeadlineError, LocalError
from barnabas.model.properties import render_properties
from barnabas.runtime.child_process import free_port, spawn

START_SECONDS = 60.0
STOP_SECONDS = 30.0


class BrokerEndedError(DeadlineError):
    """A broker process ended before it was ready."""

    def __init__(self, broker_id: int, code: int, log: str) -> None:
        super().__init__(f"broker {broker_id} ended with {code}:\n{log}")
        self.broker_id = broker_id
        words = next(filter(None, reversed(log.split("\n"))), f"ended with {code}")
        self.last_line = words.removeprefix("barnabas broker: ")


class BrokerProcess:
    """One broker of a cluster; `kills` counts calls of `kill`.

    `program` is the command that runs `barnabas`, `log_options` its options for the log file; both
    may be replaced before `launch`. `http_url` is the address of the HTTP endpoints of a running
    broker that has `http.listener`.
    """

    def __init__(
        self,
        broker_id: int,
        directory: Path,
        settings: Mapping[str, object],
        port: int = 0,
        host: str = "127.0.0.1",
    ) -> None:
        self.broker_id = broker_id
        self._host = f"[{host}]" if ":" in host else host
        self.port = port or free_port()
        self.data_dir = directory / f"broker-{broker_id}"
        self.log_file = directory / f"broker-{broker_id}.log"
        self.kills = 0
        self.program = [sys.executable, "-m", "barnabas.cli.main"]
        self.log_options = ["--log-level", "INFO"]
        self.http_url: str | None = None
        self._config = directory / f"broker-{broker_id}.properties"
        self.settings = {
            "broker.id": broker_id,
            "listeners": f"PLAINTEXT://{self._host}:{self.port}",
            "log.dirs": str(self.data_dir),
            **settings,
        }
        self._process: subprocess.Popen[str] | None = None

    @property
    def address(self) -> str:
        return f"{self._host}:{self.port}"

    @property
    def pid(self) -> int:
        """The id of the running process."""
        return self._running_process().pid

    @property
    def running(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def launch(self) -> None:
        """Starts the process; `wait_until_ready` waits until the broker serves requests."""
        _write_private(self._config, render_properties(self.settings))
        command = [*self.program, "broker", "--config", str(self._config), *self.log_options]
        with _open_private(self.log_file, "ab") as log:
            self._process = spawn(
                command,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                start_new_session=True,  # Ctrl-C reaches the parent only, which stops the brokers
            )

    def wait_until_ready(self) -> None:
        process = self._running_process()
        assert process.stdout is not None
        guard = threading.Timer(START_SECONDS, process.kill)
        guard.start()
        try:
            for line in process.stdout:
                if "listening on" in line:
                    if self.settings.get("http.listener"):
                        self.http_url = (
                            process.stdout.readline().split()[-1].removesuffix("/metrics")
                        )
                    return
        finally:
            guard.cancel()
        tail = self.log_file.read_text(errors="replace")[-2000:]
        raise BrokerEndedError(self.broker_id, process.wait(), tail)

    def kill(self) -> None:
        """Sends SIGKILL: no controlled shutdown, no clean logs, the session must expire."""
        process = self._running_process()
        process.kill()
        process.wait()
        self._close()
        self.kills += 1

    def terminate(self) -> int:
        """Sends SIGTERM, waits for the controlled shutdown and returns the exit code."""
        process = self._running_process()
        process.send_signal(signal.SIGCONT)
        process.terminate()
        try:
            code = process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            code = process.wait()
        self._close()
        return code

    def signal(self, number: signal.Signals) -> None:
        os.kill(self.pid, number)

    def _running_process(self) -> "subprocess.Popen[str]":
        if self._process is None:
            raise LocalError(f"broker {self.broker_id} is not running")
        return self._process

    def _close(self) -> None:
        if self._process is not None and self._process.stdout is not None:
            self._process.stdout.close()
        self._process = None


def _open_private(path: Path, mode: str) -> IO[bytes]:
    """Opens a file that other users of the machine cannot read."""
    flags = os.O_WRONLY | os.O_CREAT | (os.O_APPEND if mode == "ab" else os.O_TRUNC)
    return os.fdopen(os.open(path, flags, 0o600), mode)


def _write_private(path: Path, text: str) -> None:
    """Replaces a file; one of an earlier run may have been readable by others."""
    path.unlink(missing_ok=True)
    with _open_private(path, "wb") as file:
        file.write(text.encode())
