"""From a query to its plan, with the relations of the catalog and the settings of the session."""

from collections.abc import Callable, Mapping
from typing import TypeVar

from barnabas.streams.schema import Schema
from barnabas.streams.sql.catalog.statement_log import StatementLog
from barnabas.streams.sql.engine.session_properties import OFFSET_RESET
from barnabas.streams.sql.engine.spark_errors import spark_errors
from barnabas.streams.sql.engine.spark_session import SparkHouse
from barnabas.streams.sql.language.errors import SqlError
from barnabas.streams.sql.language.statements import Query
from barnabas.streams.sql.translation.expressions import check_replayable
from barnabas.streams.sql.translation.plan import StreamingPlan, plan_query
from barnabas.streams.sql.translation.records import DEAD_LETTERS, SKIP
from barnabas.streams.sql.translation.refusals import place
from barnabas.streams.sql.translation.rows import Relations

T = TypeVar("T")


class Planning:
    """Plans queries."""

    def __init__(self, log: StatementLog, house: SparkHouse) -> None:
        self._log = log
        self._house = house

    def relations(self, settings: Mapping[str, str], on_error: str = SKIP) -> Relations:
        """Those that queries may read now."""
        by_name = {relation.name.lower(): relation for relation in self._log.catalog.relations}
        return Relations(by_name, settings[OFFSET_RESET], on_error)

    def written(self, query: Query, settings: Mapping[str, str]) -> StreamingPlan:
        """The plan of a query that writes."""
        placed(query, lambda: check_replayable(query.tree))
        return plan_query(query, self.relations(settings, DEAD_LETTERS))

    def pushed(self, query: Query, settings: Mapping[str, str]) -> StreamingPlan:
        """The plan of a query for the person who asks."""
        return plan_query(query, self.relations(settings))

    def schema(self, query: Query, plan: StreamingPlan) -> Schema:
        """The columns, as Spark sees them; its complaints are SqlErrors at the query."""
        from barnabas.streams.run import output_schema

        with spark_errors(query):
            return output_schema(plan.full(), self._house.session)


def placed(query: Query, work: Callable[[], T]) -> T:
    """Run a check; its errors point at the query."""
    try:
        return work()
    except SqlError as error:
        raise place(error, query) from None
