"""The audit log: one JSON line per request that changes something.

Lines go to the logger `barnabas.console.audit` and, if configured, to a file. A line has the user,
the address, method, path, status and the details that the route added. Request bodies are not
written, because they may have passwords or record contents.
"""

import json
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from barnabas.model.errors import ConfigError

_log = logging.getLogger("barnabas.console.audit")


@dataclass(slots=True)
class AuditEntry:
    user: str
    address: str
    method: str
    path: str
    status: int
    details: Mapping[str, object] = field(default_factory=dict)


class AuditLog:
    """Writes entries; `now` returns the current time with a time zone."""

    def __init__(self, path: Path | None, now: Callable[[], datetime]) -> None:
        self._now = now
        try:
            self._file = None if path is None else path.open("a", encoding="utf-8", buffering=1)
        except OSError as error:
            raise ConfigError(f"--audit-log {path}: {error.strerror}") from error

    def write(self, entry: AuditEntry) -> None:
        line = json.dumps(
            {
                "time": self._now().isoformat(timespec="milliseconds"),
                "user": entry.user,
                "address": entry.address,
                "method": entry.method,
                "path": entry.path,
                "status": entry.status,
                **({"details": dict(entry.details)} if entry.details else {}),
            },
            default=str,
        )
        _log.info("%s", line)
        if self._file is not None:
            self._file.write(line + "\n")

    def close(self) -> None:
        if self._file is not None:
            self._file.close()
