"""The catalog: relations and queries, and the statement log from which they are computed.

The log is a compacted topic with one partition; it is read to its end before every statement, so
several shells share one catalog. The key of a record is the statement's id, the value its
definition; null takes the definition back. If two definitions have the same name, their order in
the log decides, so that every reader gets the same result: the later one is ignored unless it says
that it replaces the earlier one. Each statement has a unique key, so compaction never deletes the
definition that is in effect.

    s-<id>          {"statement": …, "relation": …|null, "query": …|null, "replaces": id|null}
    terminate-<id>  {"terminate": id}
    home-<id>/<state directory's id>  {"home": state directory's id, "where": "host:path"}

A query runs in the state directory that has its checkpoint; in another directory it would start
from the beginning. The first claim of a directory in the log is in effect. A claim is never written
twice, because compaction would move it behind later ones.

The id of a query contains the offset of its statement, as in ksqlDB: it never changes.
"""

import json
import threading
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from barnabas.admin import Admin
from barnabas.clients.producer import Producer
from barnabas.clients.simple import SimpleConsumer
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BrokerError
from barnabas.runtime.closing import ClosesOnExit
from barnabas.streams.sql.language.errors import SqlError
from barnabas.streams.sql.relations import Relation, json_text, relation_of, unknown_relation

STATEMENT, TERMINATE, CLAIM = "s-", "terminate-", "home-"
TOPIC = "_barnabas_sql_statements"
# The statements exist only in this topic, so it gets the replication factor of important topics.
MAX_REPLICAS = 3
WAIT_SECONDS = 30.0


@dataclass(frozen=True, slots=True)
class CheckpointLocation:
    """The state directory with a query's checkpoint: its id, and its host and path for messages."""

    directory: str
    where: str


@dataclass(frozen=True, slots=True)
class QueryDefinition:
    """A query that runs until it is terminated.

    `settings` are the properties of SET at its definition, such as auto.offset.reset.
    """

    query_id: str
    statement_id: str
    statement: str
    target: str
    sources: tuple[str, ...]
    settings: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Definition:
    """The definition of one statement: a relation, a query, or both."""

    statement: str
    relation: Relation | None = None
    query_kind: str | None = None
    """CSAS, CTAS or INSERTQUERY: the first part of the query's id."""
    target: str | None = None
    sources: tuple[str, ...] = ()
    settings: Mapping[str, str] = field(default_factory=dict)
    replaces: str | None = None

    def encode(self) -> bytes:
        query = None
        if self.query_kind is not None:
            query = {
                "kind": self.query_kind,
                "target": self.target,
                "sources": list(self.sources),
                "settings": dict(self.settings),
            }
        relation = None if self.relation is None else self.relation.as_document()
        document = {
            "version": 1,
            "statement": self.statement,
            "relation": relation,
            "query": query,
            "replaces": self.replaces,
        }
        return json_text(document).encode()


def terminated(statement_id: str) -> tuple[str, bytes]:
    """Returns the record that ends a query but keeps its stream or table."""
    return TERMINATE + statement_id, json_text({"version": 1, "terminate": statement_id}).encode()


def claimed(statement_id: str, location: CheckpointLocation) -> tuple[str, bytes]:
    """Returns the record that claims a query for a state directory."""
    document = {"version": 1, "home": location.directory, "where": location.where}
    return f"{CLAIM}{statement_id}/{location.directory}", json_text(document).encode()


class Catalog:
    """The relations and queries that are in effect after some records of the log."""

    def __init__(self) -> None:
        self._relations: dict[str, Relation] = {}
        self._owners: dict[str, str] = {}
        """The statement that defined each relation, by lower-case name."""
        self._texts: dict[str, str] = {}
        self._queries: dict[str, QueryDefinition] = {}
        """By statement id."""
        self._terminated: set[str] = set()
        self._claims: dict[str, dict[str, CheckpointLocation]] = {}
        """By statement id and record key, in the order of the log."""

    def apply(self, key: str, value: bytes | None, offset: int) -> None:
        """Applies one record of the log."""
        if value is None:
            self._take_back(key)
        elif key.startswith(TERMINATE):
            self._terminated.add(key.removeprefix(TERMINATE))
        elif key.startswith(CLAIM):
            found = json.loads(value)
            claims = self._claims.setdefault(_statement_of_claim(key), {})
            claims.setdefault(key, CheckpointLocation(found["home"], found["where"]))
        elif key.startswith(STATEMENT):
            self._define(key, json.loads(value), offset)

    def _define(self, key: str, document: Mapping[str, Any], offset: int) -> None:
        stored = document["relation"]
        if stored is not None:
            relation = relation_of(stored)
            name = relation.name.lower()
            owner = self._owners.get(name)
            if owner is not None and owner not in (key, document["replaces"]):
                return
            if owner is not None and owner != key:
                self._queries.pop(owner, None)
            self._relations[name] = relation
            self._owners[name] = key
        self._texts[key] = document["statement"]
        query = document["query"]
        if query is not None:
            target = query["target"]
            self._queries[key] = QueryDefinition(
                f"{query['kind']}_{target.upper()}_{offset}",
                key,
                document["statement"],
                target,
                tuple(query["sources"]),
                query["settings"],
            )

    def _take_back(self, key: str) -> None:
        self._terminated.discard(key.removeprefix(TERMINATE))
        self._claims.get(_statement_of_claim(key), {}).pop(key, None)
        self._queries.pop(key, None)
        self._texts.pop(key, None)
        for name, owner in list(self._owners.items()):
            if owner == key:
                del self._owners[name], self._relations[name]

    @property
    def relations(self) -> list[Relation]:
        """All relations, by name."""
        return [self._relations[name] for name in sorted(self._relations)]

    @property
    def queries(self) -> list[QueryDefinition]:
        """The queries that should be running, oldest first."""
        return [
            query
            for statement_id, query in self._queries.items()
            if statement_id not in self._terminated
        ]

    def relation(self, name: str) -> Relation:
        """Returns a relation by its name in any case; SqlError suggests a similar name."""
        found = self.find(name)
        if found is None:
            raise unknown_relation(name, [item.name for item in self._relations.values()])
        return found

    def find(self, name: str) -> Relation | None:
        return self._relations.get(name.lower())

    def owner(self, name: str) -> str | None:
        """Returns the id of the statement that defined a relation."""
        return self._owners.get(name.lower())

    def statement_of(self, name: str) -> str:
        """Returns the text of the statement that defined a relation."""
        return self._texts.get(self._owners.get(name.lower(), ""), "")

    def is_in_effect(self, statement_id: str) -> bool:
        """Returns whether a statement is in effect: no other had the name before it."""
        return statement_id in self._texts

    def location(self, statement_id: str) -> CheckpointLocation | None:
        """Returns the state directory that runs a query; None if none has claimed it yet."""
        return next(iter(self._claims.get(statement_id, {}).values()), None)

    def claims(self, statement_id: str) -> list[str]:
        """Returns the keys of all claims to a query."""
        return list(self._claims.get(statement_id, ()))

    def query(self, query_id: str) -> QueryDefinition | None:
        return next((q for q in self.queries if q.query_id.lower() == query_id.lower()), None)

    def readers(self, name: str) -> list[QueryDefinition]:
        """Returns the queries that read a relation."""
        return [q for q in self.queries if name.lower() in (s.lower() for s in q.sources)]

    def writers(self, name: str) -> list[QueryDefinition]:
        """Returns the queries that write to a relation."""
        return [q for q in self.queries if q.target.lower() == name.lower()]


def _statement_of_claim(key: str) -> str:
    return key.removeprefix(CLAIM).partition("/")[0]


class StatementLog(ClosesOnExit):
    """Reads and writes the statement log. Thread-safe."""

    def __init__(self, settings: Mapping[str, object], admin: Admin, topic: str = TOPIC) -> None:
        self.catalog = Catalog()
        self._topic = topic
        self._admin = admin
        self._settings = settings
        self._consumer = SimpleConsumer(settings, fetch_max_wait_ms=1)
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
        """Reads the new records of the log and returns the catalog."""
        with self._reading:
            end = self._consumer.latest_offset(self._topic, 0)
            for record in self._consumer.records(self._topic, 0, self._position, end):
                key = (record.key or b"").decode()
                self.catalog.apply(key, record.value, record.offset)
            self._position = max(self._position, end)
        return self.catalog

    def define(self, definition: Definition) -> str:
        """Writes a definition and returns its id; SqlError if another process defined the name
        first.
        """
        statement_id = STATEMENT + uuid.uuid4().hex
        self._write(statement_id, definition.encode())
        if definition.replaces is not None:
            self._write(definition.replaces, None)
            self._give_up(definition.replaces)
        self.refresh()
        if not self.catalog.is_in_effect(statement_id):
            self._write(statement_id, None)
            name = definition.relation.name if definition.relation else definition.target
            raise SqlError(f"another process has just defined {name}")
        return statement_id

    def terminate(self, statement_id: str) -> None:
        """Ends a query and keeps its relation."""
        self._write(*terminated(statement_id))
        self._give_up(statement_id)
        self.refresh()

    def remove(self, statement_id: str) -> None:
        """Removes the relation and the query of a statement."""
        self._write(statement_id, None)
        self._write(terminated(statement_id)[0], None)
        self._give_up(statement_id)
        self.refresh()

    def claim(self, statement_id: str, location: CheckpointLocation) -> CheckpointLocation | None:
        """Claims a query for a state directory, unless it is claimed already.

        Returns the claim that is in effect, or None if the query was dropped.
        """
        if self.catalog.location(statement_id) is None:
            key, value = claimed(statement_id, location)
            self._write(key, value)
            self.refresh()
            found = self.catalog.location(statement_id)
            if not self.catalog.is_in_effect(statement_id):
                self._give_up(statement_id)
            elif found is not None and found.directory != location.directory:
                self._write(key, None)
        return (
            self.catalog.location(statement_id) if self.catalog.is_in_effect(statement_id) else None
        )

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
