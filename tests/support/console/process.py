"""A console process for tests."""

import json
import os
import subprocess
import sys
import threading
import urllib.request

BARNABAS = ("-m", "barnabas.cli.main")


class ConsoleProcess:
    """`barnabas console` on a free port; `program` are Python's arguments before the command."""

    def __init__(self, bootstrap, *arguments, env=None, program=BARNABAS):
        self.bootstrap = bootstrap
        command = [sys.executable, *program, "console"]
        self.process = subprocess.Popen(
            [*command, "-b", bootstrap, "--port", "0", *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONUNBUFFERED": "1", **(env or {})},
        )
        line = self.process.stdout.readline()
        if not line.startswith("console at "):
            raise AssertionError(f"{line!r}: {self.process.stderr.read()}")
        self.url = line.split()[-1]
        self.errors = ""
        self._drain = threading.Thread(target=self._read_errors, daemon=True)
        self._drain.start()

    def _read_errors(self):
        self.errors = self.process.stderr.read()

    def api(self, method, path, body=None):
        request = urllib.request.Request(
            f"{self.url}/api/v1{path}",
            method=method,
            data=None if body is None else json.dumps(body).encode(),
            headers={"content-type": "application/json"},
        )
        with urllib.request.urlopen(request, timeout=60) as response:
            content = response.read()
        return json.loads(content) if content else None

    def stop(self):
        """Ends the process; fails if it has written a traceback."""
        self.process.terminate()
        self.process.wait(60)
        self._drain.join(60)
        self.process.stdout.close()
        self.process.stderr.close()
        assert "Traceback" not in self.errors, self.errors
