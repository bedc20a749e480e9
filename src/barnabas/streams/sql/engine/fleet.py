"""All queries of the catalog: taken by this process, run on, or run over what is there now."""

from barnabas.streams.sql.catalog.catalog import Catalog, QueryDefinition
from barnabas.streams.sql.catalog.relations import Relation
from barnabas.streams.sql.catalog.statement_log import StatementLog
from barnabas.streams.sql.engine.order import Flow, feeding_order
from barnabas.streams.sql.engine.planning import Planning
from barnabas.streams.sql.engine.running import FAILED, Queries, RunningQuery
from barnabas.streams.sql.language.errors import SqlError
from barnabas.streams.sql.language.parser import parse_statement
from barnabas.streams.sql.language.statements import CreateAs, InsertSelect
from barnabas.streams.sql.translation.plan import StreamingPlan


class Fleet:
    """Runs queries. `run_new` False leaves new ones to others, or to `run_available`."""

    def __init__(
        self, log: StatementLog, planning: Planning, queries: Queries, *, run_new: bool
    ) -> None:
        self.queries = queries
        self._log = log
        self._planning = planning
        self._run_new = run_new
        self._unable: dict[str, str] = {}

    @property
    def _catalog(self) -> Catalog:
        return self._log.catalog

    def refresh(self) -> None:
        """Read what others have defined, and stop what they have terminated."""
        # Asked first: another thread may define one, and take it, while the catalog is read.
        here = [query.definition.query_id for query in self.queries]
        known = {query.query_id for query in self._log.refresh().queries}
        for query_id in here:
            if query_id not in known:
                self.queries.release(query_id, forget=True)

    def begin(self, definition: QueryDefinition, plan: StreamingPlan, target: Relation) -> None:
        """Start a query that has just been defined."""
        if not self._run_new:
            return
        query = self.queries.take(definition, plan.written(target))
        if query is not None:
            query.start()

    def resume(self) -> list[RunningQuery]:
        """Take every query of the catalog that no other process has."""
        self.refresh()
        taken = []
        for item in self._catalog.queries:
            try:
                query = self._taken(item)
            except SqlError as error:  # one that cannot run must not keep the others from running
                self._unable[item.query_id] = error.reason
            else:
                taken += [] if query is None else [query]
        return taken

    def _taken(self, definition: QueryDefinition) -> RunningQuery | None:
        found = self.queries.here(definition.query_id)
        if found is not None:
            return found
        statement = parse_statement(definition.statement)
        assert isinstance(statement, CreateAs | InsertSelect)
        plan = self._planning.written(statement.query, definition.settings)
        return self.queries.take(
            definition, plan.written(self._catalog.relation(definition.target))
        )

    def start(self) -> int:
        """Resume and keep on; returns how many run here."""
        taken = self.resume()
        for query in taken:
            query.start()
        return len(taken)

    def run_available(self, timeout: float | None = None) -> None:
        """Let every query process what is there now, those that feed others first; SqlError when
        one is not done after `timeout` seconds."""
        taken = {query.definition.query_id: query for query in self.resume()}
        for query_id in feeding_order([self._flow(query.definition) for query in taken.values()]):
            query = taken[query_id]
            query.run_available(timeout)
            if query.running is None:
                self.queries.release(query_id, forget=False)

    def _flow(self, definition: QueryDefinition) -> Flow:
        topics = {name: self._catalog.relation(name).topic for name in definition.sources}
        target = self._catalog.relation(definition.target).topic
        return Flow(definition.query_id, frozenset(topics.values()), target)

    def failures(self) -> dict[str, str]:
        """Queries of this process that have failed, or could not begin, with the reason."""
        failed = {
            query.definition.query_id: query.error or ""
            for query in self.queries
            if query.status == FAILED
        }
        return self._unable | failed

    def elsewhere(self) -> dict[str, str]:
        """Queries that only another state directory can run, with its host and path."""
        found = {query.query_id: self.queries.elsewhere(query) for query in self._catalog.queries}
        return {query_id: where for query_id, where in found.items() if where is not None}
