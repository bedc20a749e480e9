"""The console of `barnabas up --console`: a process of its own beside the broker.

It is started when the broker listens, and stopped when the broker has stopped. A console that
cannot start (the extra is missing, its port is in use) is reported and does not stop the broker.
"""

import subprocess
import sys
from collections.abc import Sequence

from barnabas.runtime.child_process import spawn

_STOP_SECONDS = 5.0


class ConsoleProcess:
    """Starts `barnabas console` for an address and stops it."""

    def __init__(self, port: int, metrics_urls: Sequence[str] = ()) -> None:
        self._port = port
        self._metrics_urls = metrics_urls
        self._process: subprocess.Popen[bytes] | None = None

    def start(self, bootstrap: str, zookeeper: str | None = None) -> None:
        command = [sys.executable, "-m", "barnabas.cli.main", "console", "-b", bootstrap]
        command += ["--port", str(self._port)]
        command += ["--zookeeper", zookeeper] if zookeeper else []
        for url in self._metrics_urls:
            command += ["--metrics-url", url]
        self._process = spawn(command)

    def stop(self) -> None:
        """Ends the process; further calls have no effect."""
        process, self._process = self._process, None
        if process is None:
            return
        process.terminate()
        try:
            process.wait(_STOP_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
