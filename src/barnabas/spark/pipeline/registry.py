"""Which pipelines ran on this machine and how they do: a small file for each, for `list`, `status`.

A runner holds a lock on its pipeline's file as long as it lives; the system lets go of it when the
process ends, however it ends. So a state `running` without a holder means that the runner died.
The lock also keeps a second runner from the same pipeline: two drivers on one checkpoint would
destroy it.
"""

import fcntl
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from barnabas.model.errors import LocalError

RUNNING, STOPPED, FINISHED, FAILED, DIED = "running", "stopped", "finished", "failed", "died"
STATE_DIR = "BARNABAS_STATE_DIR"


def default_directory() -> Path:
    """`$BARNABAS_STATE_DIR`, or where the desktop conventions put state."""
    given = os.environ.get(STATE_DIR)
    base = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    return Path(given) if given else Path(base) / "barnabas" / "pipelines"


class Registry:
    """Files in one directory; any process may read them, a pipeline's runner writes its own."""

    def __init__(self, directory: Path | None = None) -> None:
        self._directory = directory or default_directory()

    @contextmanager
    def running(self, name: str) -> Iterator[None]:
        """Held while a pipeline runs; LocalError when it runs already."""
        self._directory.mkdir(parents=True, exist_ok=True)
        with self._lock_file(name).open("a") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                raise LocalError(f"the pipeline {name!r} is running already") from None
            yield

    def log_file(self, name: str) -> Path:
        """Where Spark writes what it has to say."""
        return self._directory / f"{name}.log"

    def write(self, name: str, document: dict[str, Any]) -> None:
        """Replace what is known of a pipeline; a reader sees the old or the new."""
        target = self._directory / f"{name}.json"
        draft = target.with_suffix(".json.new")
        draft.write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")
        draft.replace(target)

    def read(self, name: str) -> dict[str, Any]:
        """What is known; LocalError when there is nothing."""
        try:
            text = (self._directory / f"{name}.json").read_text(encoding="utf-8")
        except FileNotFoundError:
            raise LocalError(f"no pipeline {name!r} has run here") from None
        document: dict[str, Any] = json.loads(text)
        if document.get("state") == RUNNING and not self._is_held(name):
            document["state"] = DIED
        return document

    def read_all(self) -> list[dict[str, Any]]:
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
