"""A broker in a separate process that a test can kill: `barnabas up` with a fixed port and
directory.
"""

import signal
import subprocess
import sys
from pathlib import Path

from barnabas.runtime.child_process import free_port


class BrokerProcess:
    """Started, killed and started again on the same data; `kills` counts the real kills."""

    def __init__(self, data_dir: Path, *options: str) -> None:
        self.port = free_port()
        self.kills = 0
        self._data_dir = data_dir
        self._options = options
        self._process = None

    @property
    def bootstrap_servers(self):
        return f"127.0.0.1:{self.port}"

    def start(self):
        command = [sys.executable, "-m", "barnabas.cli.main", "up", "--host", "127.0.0.1"]
        command += ["--port", str(self.port), "--data-dir", str(self._data_dir), *self._options]
        self._process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        for line in self._process.stdout:
            if "listening on" in line:
                return self
        raise AssertionError(f"the broker ended with {self._process.wait()}")

    def kill(self):
        self._process.send_signal(signal.SIGKILL)
        assert self._process.wait(60) == -signal.SIGKILL
        self._process.stdout.close()
        self.kills += 1

    def stop(self):
        self._process.terminate()
        code = self._process.wait(60)
        self._process.stdout.close()
        return code

    def __enter__(self):
        return self.start()

    def __exit__(self, *_):
        if self._process.poll() is None:
            self.stop()
