"""SELECT without EMIT: topics as they are now, as views, and Spark's SQL over them."""

from collections.abc import Mapping
from typing import Any

from barnabas.streams.nodes import Select
from barnabas.streams.schema import quoted
from barnabas.streams.sql.catalog.relations import Relation
from barnabas.streams.sql.engine.results import Table
from barnabas.streams.sql.engine.spark_errors import spark_errors
from barnabas.streams.sql.engine.spark_session import SparkHouse
from barnabas.streams.sql.language.statements import Query
from barnabas.streams.sql.translation.bounded import bounded_text
from barnabas.streams.sql.translation.records import source
from barnabas.streams.sql.translation.scope import ROW_COLUMNS


def run_bounded(
    query: Query, relations: Mapping[str, Relation], house: SparkHouse, kafka: Mapping[str, str]
) -> Table:
    """All rows of the answer."""
    text, used = bounded_text(query, relations)
    spark = house.session
    for relation in used:
        _view(relation, house, kafka)
    with spark_errors(query):
        frame = spark.sql(text)
        rows = [row.asDict(recursive=True) for row in frame.collect()]
    return Table(frame.columns, rows)


def _view(relation: Relation, house: SparkHouse, kafka: Mapping[str, str]) -> None:
    from barnabas.streams.run import read_bounded

    own = tuple((column.name, quoted(column.name)) for column in relation.columns)
    every = tuple(
        (name.upper(), text.format(row=""))
        for name, text in ROW_COLUMNS.items()
        if relation.column(name) is None
    )
    node = Select(source(relation), own + every)
    frame: Any = read_bounded(
        node,
        house.session,
        kafka["kafka.bootstrap.servers"],
        kafka,
    )
    names = [quoted(name) for name, _ in own + every]
    frame.where("NOT _tombstone").selectExpr(*names).createOrReplaceTempView(quoted(relation.name))
