"""Results of checks: the status, and for a failure the cause and the fix."""

import enum
from dataclasses import dataclass
from typing import Any


class Status(enum.StrEnum):
    OK = "OK"
    WARNING = "WARNING"
    FAILED = "FAILED"


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of one check; the keys of its row are a stable interface."""

    check: str
    status: Status
    target: str
    detail: str
    cause: str | None = None
    fix: str | None = None

    def row(self) -> dict[str, Any]:
        return {
            "check": self.check,
            "status": str(self.status),
            "target": self.target,
            "detail": self.detail,
            "cause": self.cause,
            "fix": self.fix,
        }


def passed(check: str, target: object, detail: str) -> Finding:
    return Finding(check, Status.OK, str(target), detail)


def failed(check: str, target: object, detail: str, cause: str, fix: str) -> Finding:
    return Finding(check, Status.FAILED, str(target), detail, cause, fix)


def warning(check: str, target: object, detail: str, cause: str, fix: str) -> Finding:
    return Finding(check, Status.WARNING, str(target), detail, cause, fix)
