"""TERMINATE and DROP: the end of queries and of definitions."""

from barnabas.streams.sql.catalog.catalog import QueryDefinition
from barnabas.streams.sql.catalog.relations import close_name
from barnabas.streams.sql.catalog.statement_log import StatementLog
from barnabas.streams.sql.engine.results import Message, Result
from barnabas.streams.sql.engine.running import Queries
from barnabas.streams.sql.engine.topics import Topics
from barnabas.streams.sql.language.errors import SqlError
from barnabas.streams.sql.language.statements import Drop


class Ending:
    """Takes back what statements have defined."""

    def __init__(self, log: StatementLog, queries: Queries, topics: Topics) -> None:
        self._log = log
        self._queries = queries
        self._topics = topics

    def terminate(self, query_id: str | None) -> Result:
        chosen = self._log.catalog.queries
        if query_id is not None:
            found = self._log.catalog.query(query_id)
            if found is None:
                known = [query.query_id for query in chosen]
                raise SqlError(f"no query {query_id!r}{close_name(query_id, known)}")
            chosen = [found]
        for query in chosen:
            self._end(query)
        names = ", ".join(query.query_id for query in chosen) or "nothing"
        return Message(f"{names} terminated")

    def _end(self, query: QueryDefinition) -> None:
        if query.query_id.startswith("INSERTQUERY"):
            self._log.take_back(query.statement_id)
        else:
            self._log.terminate(query.statement_id)
        self._queries.release(query.query_id, forget=True)

    def drop(self, statement: Drop) -> Result:
        relation = self._log.catalog.find(statement.name)
        if relation is None and statement.if_exists:
            return Message(f"there is no {statement.name}")
        relation = self._log.catalog.relation(statement.name)
        if relation.kind is not statement.kind:
            raise SqlError(
                f"{relation.name} is a {relation.kind.value}: DROP {relation.kind.value}"
            )
        owner = self._log.catalog.owner(relation.name)
        assert owner is not None
        busy = self._log.catalog.readers(relation.name)
        busy += [q for q in self._log.catalog.writers(relation.name) if q.statement_id != owner]
        if busy:
            names = ", ".join(query.query_id for query in busy)
            raise SqlError(f"{relation.name} is in use: TERMINATE {names} first")
        own = [q.query_id for q in self._log.catalog.writers(relation.name)]
        self._log.take_back(owner)
        for query_id in own:
            self._queries.release(query_id, forget=True)
        if statement.delete_topic:
            self._topics.delete(relation.topic)
        return Message(f"{relation.name} dropped")
