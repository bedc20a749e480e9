"""Where queries keep their checkpoints: a state directory, and one below it for each query.

A query belongs to the state directory that has its checkpoint. The directory has an id, a file in
it, which goes with it when it is moved to another machine; the catalog knows a query's home by it.
Among the processes that share a directory, a lock decides which one runs a query.
"""

import fcntl
import os
import re
import shutil
import socket
import threading
import uuid
from pathlib import Path
from typing import IO

from barnabas.streams.sql.catalog.catalog import Home

ID_FILE = "id"
LOOK_AGAIN_SECONDS = (0.01, 0.02, 0.05)


class StateDirectory:
    """A directory of checkpoints, made when it is first needed."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @property
    def home(self) -> Home:
        """What the catalog calls it; the first call gives it its id."""
        found = self.known_id()
        return Home(self._make_id() if found is None else found, self._where)

    @property
    def _where(self) -> str:
        return f"{socket.gethostname()}:{self.path.absolute()}"

    def known_id(self) -> str | None:
        """The id; None as long as no query has run here."""
        try:
            return (self.path / ID_FILE).read_text().strip()
        except FileNotFoundError:
            return None

    def _make_id(self) -> str:
        """Written aside and linked, so that nobody reads half of it and the first one counts."""
        self.path.mkdir(parents=True, exist_ok=True)
        made = uuid.uuid4().hex
        aside = self.path / f"{ID_FILE}.{made}"
        aside.write_text(made + "\n")
        try:
            os.link(aside, self.path / ID_FILE)
        except FileExistsError:
            made = (self.path / ID_FILE).read_text().strip()
        finally:
            aside.unlink()
        return made

    def place(self, query_id: str) -> "QueryPlace":
        return QueryPlace(self.path, query_id)


class QueryPlace:
    """The directory of one query."""

    def __init__(self, state_dir: Path, query_id: str) -> None:
        self.path = state_dir / re.sub(r"[^A-Za-z0-9._-]", "_", query_id)
        self._lock: IO[bytes] | None = None

    @property
    def checkpoint(self) -> str:
        return str(self.path / "checkpoint")

    def lock(self) -> bool:
        """Take the query for this process; False if another has it."""
        self.path.mkdir(parents=True, exist_ok=True)
        handle = (self.path / "lock").open("ab")
        # Somebody who only asks whether it is taken has it for a moment: try more than once.
        pause = threading.Event()
        for pause_s in (*LOOK_AGAIN_SECONDS, None):
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                if pause_s is not None:
                    pause.wait(pause_s)
            else:
                self._lock = handle
                return True
        handle.close()
        return False

    def is_taken(self) -> bool:
        """Whether some process has the query."""
        if self._lock is not None:
            return True
        try:
            handle = (self.path / "lock").open("rb")
        except FileNotFoundError:
            return False
        with handle:
            try:
                fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except BlockingIOError:
                return True
        return False

    def unlock(self) -> None:
        handle, self._lock = self._lock, None
        if handle is not None:
            handle.close()

    def remove(self) -> None:
        self.unlock()
        shutil.rmtree(self.path, ignore_errors=True)


def default_state_dir(cluster_id: str) -> Path:
    """Below XDG_STATE_HOME: a directory for each cluster."""
    home = os.environ.get("XDG_STATE_HOME")
    base = Path(home) if home else Path.home() / ".local" / "state"
    return base / "barnabas" / "sql" / re.sub(r"[^A-Za-z0-9._-]", "_", cluster_id)
