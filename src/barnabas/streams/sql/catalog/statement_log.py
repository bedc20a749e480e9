"""The statement log: a compacted topic of one partition, read to its end before every statement.

Whoever opens it first makes it. Several shells share it: each sees what the others defined.
"""

import threading
import uuid
from collections.abc import Mapping
from types import TracebackType
from typing import Any, Self

from barnabas.admin import Admin
from barnabas.clients.producer import Producer
from barnabas.clients.simple import SimpleConsumer
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BrokerError
from barnabas.streams.sql.catalog.catalog import (
    STATEMENT,
    Catalog,
    Definition,
    Home,
    claimed,
    terminated,
)
from barnabas.streams.sql.language.errors import SqlError

TOPIC = "_barnabas_sql_statements"
MAX_REPLICAS = 3
WAIT_SECONDS = 30.0


class StatementLog:
    """The catalog of a cluster, and the way to change it; for several threads."""

    def __init__(self, settings: Mapping[str, Any], admin: Admin, topic: str = TOPIC) -> None:
        self.catalog = Catalog()
        self._topic = topic
        self._admin = admin
        self._settings = settings
        self._consumer = SimpleConsumer(settings, **{"fetch_max_wait_ms": 1})
        self._producer: Producer | None = None
        self._position = 0
        self._reading = threading.Lock()
        self._make_topic()

    def _make_topic(self) -> None:
        replicas = min(MAX_REPLICAS, len(self._admin.describe_cluster().brokers))
        try:
            self._admin.create_topic(self._topic, 1, replicas, {"cleanup.policy": "compact"})
        except BrokerError as error:
            if error.code is not ErrorCode.TOPIC_ALREADY_EXISTS:
                raise

    def refresh(self) -> Catalog:
        """Read what has been written since; returns the catalog."""
        with self._reading:
            end = self._consumer.latest_offset(self._topic, 0)
            for record in self._consumer.records(self._topic, 0, self._position, end):
                key = (record.key or b"").decode()
                self.catalog.apply(key, record.value, record.offset)
            self._position = max(self._position, end)
        return self.catalog

    def define(self, definition: Definition) -> str:
        """Write a definition down; returns its id. SqlError if another came first."""
        statement_id = STATEMENT + uuid.uuid4().hex
        self._write(statement_id, definition.encode())
        if definition.replaces is not None:
            self._write(definition.replaces, None)
            self._give_up(definition.replaces)
        self.refresh()
        if not self.catalog.counts(statement_id):
            self._write(statement_id, None)
            name = definition.relation.name if definition.relation else definition.target
            raise SqlError(f"{name} has just been defined by somebody else")
        return statement_id

    def terminate(self, statement_id: str) -> None:
        """End a query; its relation stays."""
        self._write(*terminated(statement_id))
        self._give_up(statement_id)
        self.refresh()

    def take_back(self, statement_id: str) -> None:
        """Undo a statement: its relation and its query."""
        self._write(statement_id, None)
        self._write(terminated(statement_id)[0], None)
        self._give_up(statement_id)
        self.refresh()

    def claim(self, statement_id: str, home: Home) -> Home | None:
        """Make a state directory the home of a query, unless it has one already; returns the home
        that counts, None if the query is gone."""
        if self.catalog.home(statement_id) is None:
            key, value = claimed(statement_id, home)
            self._write(key, value)
            self.refresh()
            found = self.catalog.home(statement_id)
            if not self.catalog.counts(statement_id):
                self._give_up(statement_id)
            elif found is not None and found.directory != home.directory:
                self._write(key, None)
        return self.catalog.home(statement_id) if self.catalog.counts(statement_id) else None

    def _give_up(self, statement_id: str) -> None:
        for key in self.catalog.claims(statement_id):
            self._write(key, None)

    def _write(self, key: str, value: bytes | None) -> None:
        if self._producer is None:
            self._producer = Producer(self._settings, acks="all")
        sent = self._producer.send(self._topic, value, key=key.encode())
        sent.result(timeout=WAIT_SECONDS)

    def close(self) -> None:
        self._consumer.close()
        if self._producer is not None:
            self._producer.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()
