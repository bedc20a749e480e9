"""INSERT INTO … VALUES: records sent at once, without Spark."""

from collections.abc import Mapping
from typing import Any

from barnabas.clients.producer import Producer
from barnabas.streams.sql.catalog.relations import Relation
from barnabas.streams.sql.engine.results import Message, Result
from barnabas.streams.sql.engine.values import records
from barnabas.streams.sql.language.statements import InsertValues

SEND_SECONDS = 30.0


class Inserting:
    """Sends rows; the producer is made with the first."""

    def __init__(self, settings: Mapping[str, Any]) -> None:
        self._settings = settings
        self._producer: Producer | None = None

    def insert(self, statement: InsertValues, relation: Relation) -> Result:
        """Send all rows; returns when they are acknowledged."""
        made = records(statement, relation)
        if self._producer is None:
            self._producer = Producer(self._settings)
        sent = [
            self._producer.send(
                relation.topic, record.value, key=record.key, timestamp=record.timestamp
            )
            for record in made
        ]
        for future in sent:
            future.result(timeout=SEND_SECONDS)
        return Message(f"{len(sent)} row{'' if len(sent) == 1 else 's'} into {relation.name}")

    def close(self) -> None:
        if self._producer is not None:
            self._producer.close()
