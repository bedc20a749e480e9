"""Status files of the pipelines that ran on this machine, for `list` and `status`.

A process that runs a pipeline holds a lock on a file. The operating system releases the lock when
the process ends, for whatever reason. So a state `running` without a lock means that the process
died. The lock also prevents a second run of the same pipeline: two drivers that write the same
checkpoint would destroy it. A second lock prevents this for pipelines of different names.
"""

import fcntl
import hashlib
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from barnabas.model.errors import LocalError

RUNNING, STOPPED, FINISHED, FAILED, DIED = "running", "stopped", "finished", "failed", "died"
STATE_DIR = "BARNABAS_STATE_DIR"


def state_home() -> Path:
    """Returns the directory of state that outlives a process, after the XDG specification."""
    base = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    return Path(base) / "barnabas"


def default_directory() -> Path:
    """Returns `$BARNABAS_STATE_DIR`, or a directory below `state_home`."""
    given = os.environ.get(STATE_DIR)
    return Path(given) if given else state_home() / "pipelines"


class PipelineRegistry:
    """Files in one directory. Any process may read them; only a pipeline's own process writes."""

    def __init__(self, directory: Path | None = None) -> None:
        self._directory = directory or default_directory()

    @contextmanager
    def running(self, name: str) -> Iterator[None]:
        """Holds the lock of a pipeline; LocalError if another process holds it."""
        self._directory.mkdir(parents=True, exist_ok=True)
        with self._lock_file(name).open("a") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                raise LocalError(f"the pipeline {name!r} is running already") from None
            yield

    @contextmanager
    def owning(self, checkpoint: str, name: str) -> Iterator[None]:
        """Holds the lock of a checkpoint; LocalError names the pipeline that holds it."""
        path = checkpoint if "://" in checkpoint else str(Path(checkpoint).resolve())
        digest = hashlib.sha256(path.encode()).hexdigest()[:16]
        with (self._directory / f"checkpoint-{digest}.lock").open("a+", encoding="utf-8") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                file.seek(0)
                raise LocalError(
                    f"the checkpoint {checkpoint} is used by the pipeline {file.read()!r}, which "
                    "is running: each pipeline needs its own"
                ) from None
            file.truncate(0)
            file.write(name)
            file.flush()
            yield

    def log_file(self, name: str) -> Path:
        """Returns the file that Spark logs to."""
        return self._directory / f"{name}.log"

    def write(self, name: str, document: dict[str, Any]) -> None:
        """Replaces the status of a pipeline; a reader sees the old or the new file."""
        target = self._directory / f"{name}.json"
        draft = target.with_suffix(".json.new")
        draft.write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")
        draft.replace(target)

    def read(self, name: str) -> dict[str, Any]:
        """Returns the status of a pipeline; LocalError if it has not run."""
        try:
            text = (self._directory / f"{name}.json").read_text(encoding="utf-8")
        except FileNotFoundError:
            raise LocalError(f"no pipeline {name!r} has run here") from None
        document: dict[str, Any] = json.loads(text)
        if document.get("state") == RUNNING and not self._is_held(name):
            document["state"] = DIED
        return document

    def read_all(self) -> list[dict[str, object]]:
        """Returns the status of every pipeline, by name."""
        names = sorted(path.stem for path in self._directory.glob("*.json"))
        return [self.read(name) for name in names]

    def _is_held(self, name: str) -> bool:
        try:
            with self._lock_file(name).open("a") as file:
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except OSError:
            return True
        return False

    def _lock_file(self, name: str) -> Path:
        return self._directory / f"{name}.lock"
