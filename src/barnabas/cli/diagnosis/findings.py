"""What the doctor found: a check, its outcome, and for trouble the cause and the fix."""

import enum
from dataclasses import dataclass
from typing import Any


class Status(enum.StrEnum):
    OK = "OK"
    WARNING = "WARNING"
    FAILED = "FAILED"


@dataclass(frozen=True, slots=True)
class Finding:
    """One check of one thing. The keys of its row are frozen."""

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


def fine(check: str, target: object, detail: str) -> Finding:
    return Finding(check, Status.OK, str(target), detail)


def trouble(check: str, target: object, detail: str, cause: str, fix: str) -> Finding:
    return Finding(check, Status.FAILED, str(target), detail, cause, fix)


def warning(check: str, target: object, detail: str, cause: str, fix: str) -> Finding:
    return Finding(check, Status.WARNING, str(target), detail, cause, fix)
