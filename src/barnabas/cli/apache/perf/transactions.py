"""Transactions of a producer run: each is committed when it has lasted so long."""

import time
from typing import TYPE_CHECKING
from uuid import uuid4

from barnabas.model.errors import ConfigError

if TYPE_CHECKING:
    from barnabas.clients.producer import Producer

ID_KEY = "transactional.id"
DEFAULT_DURATION_MS = 3000


def transaction_settings(
    settings: dict[str, str], wanted_id: str | None, duration_ms: int | None
) -> int | None:
    """Put the id into the settings; the duration, None without transactions.

    >>> transaction_settings({"transactional.id": "t"}, None, None)
    3000
    """
    if duration_ms is not None and duration_ms <= 0:
        raise ConfigError("--transaction-duration-ms should be greater than 0")
    if wanted_id:
        settings[ID_KEY] = wanted_id
    elif duration_ms is not None and not settings.get(ID_KEY):
        settings[ID_KEY] = f"performance-producer-{uuid4()}"
    if not settings.get(ID_KEY):
        return None
    return duration_ms or DEFAULT_DURATION_MS


class Transactions:
    """Begins with the first record after a commit, so that none is empty."""

    def __init__(self, producer: "Producer", duration_ms: int) -> None:
        self._producer = producer
        self._seconds = duration_ms / 1000
        self._began: float | None = None
        self.committed = 0
        producer.init_transactions()

    def before_record(self) -> None:
        now = time.monotonic()
        if self._began is not None and now - self._began >= self._seconds:
            self.commit()
        if self._began is None:
            self._producer.begin_transaction()
            self._began = now

    def commit(self) -> None:
        """Commit what is open, if anything is."""
        if self._began is not None:
            self._producer.commit_transaction()
            self._began = None
            self.committed += 1
