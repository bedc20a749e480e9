"""Streams, tables and queries of `barnabas sql`, from the topic in which it stores its statements.

The key of a record is the id of a statement or of its end, the value a JSON document; null takes a
statement back. If two statements define the same name, the earlier one is in effect unless the
later one replaces it. Spark is not needed to read them.
"""

import json
from collections.abc import Mapping
from typing import Any

from barnabas.console.models.pipelines import SqlDefinitions, SqlQueryItem, SqlRelationItem
from barnabas.console.services.records.partition_reader import PartitionReader
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BrokerError

TOPIC = "_barnabas_sql_statements"
_STATEMENT, _TERMINATE, _CLAIM = "s-", "terminate-", "home-"


class SqlDefinitionService:
    def __init__(self, reader: PartitionReader) -> None:
        self._reader = reader

    async def read(self) -> SqlDefinitions:
        """Returns what is in effect; nothing if `barnabas sql` was never used."""
        log = StatementReader()
        try:
            (bounds,) = await self._reader.bounds(TOPIC, [0])
        except BrokerError as error:
            if error.code is not ErrorCode.UNKNOWN_TOPIC_OR_PARTITION:
                raise
            return log.definitions()
        async for entries, _ in self._reader.read_range(TOPIC, 0, bounds.start, bounds.end):
            for entry in entries:
                if entry.key is not None and entry.control is None:
                    log.read(entry.key.decode("utf-8", "replace"), entry.value, entry.offset)
        return log.definitions()


class StatementReader:
    """Applies the records of the topic in order; has no IO."""

    def __init__(self) -> None:
        self._statements: dict[str, tuple[Mapping[str, Any], int]] = {}
        self._owners: dict[str, str] = {}
        self._ended: set[str] = set()
        self._homes: dict[str, str] = {}

    def read(self, key: str, value: bytes | None, offset: int) -> None:
        if value is None:
            self._take_back(key)
            return
        try:
            document = json.loads(value)
        except ValueError:
            return  # not written by `barnabas sql`
        if key.startswith(_TERMINATE):
            self._ended.add(key.removeprefix(_TERMINATE))
        elif key.startswith(_CLAIM):
            statement = key.removeprefix(_CLAIM).partition("/")[0]
            self._homes.setdefault(statement, str(document.get("where", "")))
        elif key.startswith(_STATEMENT):
            self._define(key, document, offset)

    def _define(self, key: str, document: Mapping[str, Any], offset: int) -> None:
        relation = document.get("relation")
        if relation is not None:
            name = str(relation["name"]).lower()
            owner = self._owners.get(name)
            if owner is not None and owner not in (key, document.get("replaces")):
                return
            if owner is not None and owner != key:
                self._statements.pop(owner, None)
            self._owners[name] = key
        self._statements[key] = (document, offset)

    def _take_back(self, key: str) -> None:
        self._ended.discard(key.removeprefix(_TERMINATE))
        self._statements.pop(key, None)
        self._owners = {name: owner for name, owner in self._owners.items() if owner != key}

    def definitions(self) -> SqlDefinitions:
        found = SqlDefinitions(relations=[], queries=[])
        for key, (document, offset) in self._statements.items():
            relation, query = document.get("relation"), document.get("query")
            if relation is not None:
                found.relations.append(_relation(relation, document))
            if query is not None and key not in self._ended:
                target = str(query["target"])
                found.queries.append(
                    SqlQueryItem(
                        query_id=f"{query['kind']}_{target.upper()}_{offset}",
                        target=target,
                        sources=[str(name) for name in query["sources"]],
                        statement=str(document["statement"]),
                        runs_at=self._homes.get(key),
                    )
                )
        found.relations.sort(key=lambda item: item.name)
        return found


def _relation(relation: Mapping[str, Any], document: Mapping[str, Any]) -> SqlRelationItem:
    return SqlRelationItem(
        name=str(relation["name"]),
        kind=str(relation["kind"]).lower(),
        topic=str(relation["topic"]),
        statement=str(document["statement"]),
    )
