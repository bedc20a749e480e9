"""Completion: keywords, names of streams, tables, columns and topics, as they fit."""

from collections.abc import Callable, Iterable

from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document

from barnabas.streams.sql.catalog.catalog import Catalog

_KEYWORDS = """
SELECT|FROM|WHERE|GROUP BY|HAVING|PARTITION BY|ORDER BY|LIMIT|EMIT CHANGES|EMIT FINAL
CREATE STREAM|CREATE TABLE|CREATE OR REPLACE|IF NOT EXISTS|AS SELECT|WITH (|PRIMARY KEY|KEY
INSERT INTO|VALUES|WINDOW TUMBLING (SIZE|WINDOW HOPPING (SIZE|WINDOW SESSION (|ADVANCE BY
GRACE PERIOD|LEFT JOIN|INNER JOIN|FULL OUTER JOIN|WITHIN|ON|SHOW STREAMS|SHOW TABLES
SHOW TOPICS|SHOW QUERIES|DESCRIBE|EXTENDED|PRINT|FROM BEGINNING|EXPLAIN|TERMINATE
DROP STREAM|DROP TABLE|DELETE TOPIC|SET|UNSET|kafka_topic=|value_format=|key_format=
timestamp=|partitions=|COUNT(*)|SUM(|AVG(|MIN(|MAX(|LATEST_BY_OFFSET(|EARLIEST_BY_OFFSET(
COLLECT_LIST(|TOPK(|COUNT_DISTINCT(|TIMESTAMPTOSTRING(|STRINGTOTIMESTAMP(|EXTRACTJSONFIELD(
UCASE(|LCASE(|LEN(|ROWTIME|WINDOWSTART|WINDOWEND
"""
KEYWORDS = tuple(word for line in _KEYWORDS.strip().splitlines() for word in line.split("|"))
_RELATION_AFTER = {"FROM", "JOIN", "INTO", "DESCRIBE", "STREAM", "TABLE", "EXTENDED"}


def candidates(before: str, catalog: Catalog, topics: Callable[[], list[str]]) -> list[str]:
    """What may come after a text; pure, so that it can be tested without a terminal."""
    words = before.upper().replace("(", " ").replace(",", " ").split()
    typing = before[-1:] not in ("", " ", "\n", "(", ",")
    previous = words[-2 if typing else -1 :][:1] if words else []
    names = [relation.name for relation in catalog.relations]
    if previous == ["PRINT"]:
        return topics()
    if previous and previous[0] in _RELATION_AFTER:
        return names
    if previous == ["TERMINATE"]:
        return [query.query_id for query in catalog.queries]
    columns = sorted({column.name for item in catalog.relations for column in item.columns})
    return [*columns, *names, *KEYWORDS]


class SqlCompleter(Completer):
    """prompt_toolkit's side of it."""

    def __init__(self, catalog: Catalog, topics: Callable[[], list[str]]) -> None:
        self._catalog = catalog
        self._topics = topics

    def get_completions(
        self, document: Document, complete_event: CompleteEvent
    ) -> Iterable[Completion]:
        before = document.text_before_cursor
        word = document.get_word_before_cursor(WORD=False) if before[-1:].strip() else ""
        for text in candidates(before, self._catalog, self._topics):
            if word and text.lower().startswith(word.lower()):
                yield Completion(text, start_position=-len(word))
