"""`barnabas broker` with a disk and a clock that can be made to fail while it runs.

Usage: python faulty_broker.py CONTROL_FILE broker --config FILE …
The control file holds JSON: `errno` and `below` (writes to files whose path contains `below` fail
with this error; null: none) and `clock_ms` (added to the wall clock). It is read every 50 ms, and
copied to a file beside it when it is in force.
"""

import errno
import json
import os
import sys
import threading
from pathlib import Path

from barnabas.broker import app
from barnabas.cli.main import main
from barnabas.runtime.clock import SystemClock
from barnabas.storage import filesystem
from barnabas.storage.filesystem import OsFile, OsFileSystem

HEALTHY = {"errno": None, "below": "", "clock_ms": 0}
_PERIOD_S = 0.05


class Faults:
    """The active faults; read by the broker's threads, written by the thread that polls."""

    def __init__(self, control_file):
        self._file = Path(control_file)
        self.now = HEALTHY

    def poll(self):
        pause = threading.Event()
        while True:
            text = self._file.read_text()
            self.now = json.loads(text)
            seen_file(self._file).write_text(text)
            pause.wait(_PERIOD_S)

    def check_write(self, file):
        number = self.now["errno"]
        if number is None:
            return
        path = Path(f"/proc/self/fd/{file.fileno()}").readlink()
        if self.now["below"] in str(path):
            raise OSError(number, os.strerror(number))


def install(faults):
    """Route writes and the wall clock of this process through `faults`.

    Subclasses, because compiled code calls methods of exactly `OsFile` and `SystemClock` directly.
    """
    usage = OsFileSystem.usage

    class FaultyFile(OsFile):
        def pwrite(self, data, position):
            faults.check_write(self)
            super().pwrite(data, position)

    class ShiftedClock(SystemClock):
        def now_ms(self):
            return super().now_ms() + faults.now["clock_ms"]

    def full_usage(self, path):
        found = usage(self, path)
        full = faults.now["errno"] == errno.ENOSPC
        return found._replace(free_bytes=0) if full else found

    filesystem.OsFile = FaultyFile
    OsFileSystem.usage = full_usage
    app.SystemClock = ShiftedClock


def seen_file(control_file):
    return control_file.with_suffix(".seen")


def set_faults(control_file, **changes):
    """Write the control file in one step."""
    temporary = control_file.with_suffix(".new")
    temporary.write_text(json.dumps({**HEALTHY, **changes}))
    temporary.replace(control_file)


if __name__ == "__main__":
    state = Faults(sys.argv[1])
    install(state)
    threading.Thread(target=state.poll, name="faults", daemon=True).start()
    sys.exit(main(sys.argv[2:]))
