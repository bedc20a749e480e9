"""The catalog: relations and queries, folded from the records of the statement log.

A record's key is the statement's id, its value the definition; null takes it back. Which of two
definitions of one name counts is decided by their order in the log, the same for every reader:
a later one is ignored unless it says that it replaces the earlier. Each statement has a key of
its own, so compaction never drops the one that counted.

    s-<id>          {"statement": …, "relation": …|null, "query": …|null, "replaces": id|null}
    terminate-<id>  {"terminate": id}
    home-<id>/<state directory's id>  {"home": state directory's id, "where": "host:path"}

A query's home is the state directory that has its checkpoint; run from another it would begin
anew. Of several claims the first in the log counts, and nobody writes a claim twice: compaction
would move it behind others.

A query's id has the offset of its statement in it, as ksqlDB's have: it never changes.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from barnabas.streams.sql.catalog.relations import (
    Relation,
    json_text,
    relation_of,
    unknown_relation,
)

STATEMENT, TERMINATE, HOME = "s-", "terminate-", "home-"


@dataclass(frozen=True, slots=True)
class Home:
    """A state directory: its id, and where it is, for people."""

    directory: str
    where: str


@dataclass(frozen=True, slots=True)
class QueryDefinition:
    """A query that runs until it is terminated.

    `settings` are those of SET when it was made, such as auto.offset.reset.
    """

    query_id: str
    statement_id: str
    statement: str
    target: str
    sources: tuple[str, ...]
    settings: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Definition:
    """What one statement defined: a relation, a query, or both."""

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
    """The record that ends a query and leaves its stream or table."""
    return TERMINATE + statement_id, json_text({"version": 1, "terminate": statement_id}).encode()


def claimed(statement_id: str, home: Home) -> tuple[str, bytes]:
    """The record that claims a query for a state directory."""
    document = {"version": 1, "home": home.directory, "where": home.where}
    return f"{HOME}{statement_id}/{home.directory}", json_text(document).encode()


class Catalog:
    """The relations and queries that count, after some records of the log."""

    def __init__(self) -> None:
        self._relations: dict[str, Relation] = {}
        self._owners: dict[str, str] = {}
        """The statement that defined each relation, by lower-case name."""
        self._texts: dict[str, str] = {}
        self._queries: dict[str, QueryDefinition] = {}
        """By statement id."""
        self._terminated: set[str] = set()
        self._claims: dict[str, dict[str, Home]] = {}
        """By statement id and record key, the first that came first."""

    def apply(self, key: str, value: bytes | None, offset: int) -> None:
        """Fold one record in."""
        if value is None:
            self._take_back(key)
        elif key.startswith(TERMINATE):
            self._terminated.add(key.removeprefix(TERMINATE))
        elif key.startswith(HOME):
            found = json.loads(value)
            claims = self._claims.setdefault(_claimed_statement(key), {})
            claims.setdefault(key, Home(found["home"], found["where"]))
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
        self._claims.get(_claimed_statement(key), {}).pop(key, None)
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
        """A relation by its name in any case; SqlError with a suggestion."""
        found = self.find(name)
        if found is None:
            raise unknown_relation(name, [item.name for item in self._relations.values()])
        return found

    def find(self, name: str) -> Relation | None:
        return self._relations.get(name.lower())

    def owner(self, name: str) -> str | None:
        """The id of the statement that defined a relation."""
        return self._owners.get(name.lower())

    def statement_of(self, name: str) -> str:
        """The text that defined a relation."""
        return self._texts.get(self._owners.get(name.lower(), ""), "")

    def counts(self, statement_id: str) -> bool:
        """Whether a statement took effect: no other had the name before it."""
        return statement_id in self._texts

    def home(self, statement_id: str) -> Home | None:
        """Where a query runs; None if nobody has run it yet."""
        return next(iter(self._claims.get(statement_id, {}).values()), None)

    def claims(self, statement_id: str) -> list[str]:
        """The keys of all claims to a query."""
        return list(self._claims.get(statement_id, ()))

    def query(self, query_id: str) -> QueryDefinition | None:
        return next((q for q in self.queries if q.query_id.lower() == query_id.lower()), None)

    def readers(self, name: str) -> list[QueryDefinition]:
        """Queries that read a relation."""
        return [q for q in self.queries if name.lower() in (s.lower() for s in q.sources)]

    def writers(self, name: str) -> list[QueryDefinition]:
        """Queries that fill a relation."""
        return [q for q in self.queries if q.target.lower() == name.lower()]


def _claimed_statement(key: str) -> str:
    return key.removeprefix(HOME).partition("/")[0]
