"""Spark's complaints as errors of SQL: one line, in the words of the statement."""

import re
from collections.abc import Iterator
from contextlib import contextmanager

from barnabas.streams.sql.language.errors import SqlError
from barnabas.streams.sql.language.statements import Query
from barnabas.streams.sql.translation.functions import suggestion


@contextmanager
def spark_errors(query: Query) -> Iterator[None]:
    """AnalysisException, and its like, to SqlError at the query's beginning."""
    from pyspark.errors import PySparkException

    try:
        yield
    except PySparkException as error:
        reason = readable(str(error))
        raise SqlError(reason, query.text, _position(reason, query)) from error


def failure_text(error: BaseException) -> str:
    """Why a streaming query failed, in a line: the innermost error, without Spark's pages."""
    text = str(error)
    causes = re.findall(r"^(?:[\w.]+\.)?(\w+(?:Error|Exception)): (.+)$", text, re.MULTILINE)
    if causes:
        name, reason = causes[-1]
        return f"{name}: {readable(reason)}"
    return readable(text)


def _position(reason: str, query: Query) -> int:
    """Where the name is that Spark does not know; else where the query begins."""
    function = re.match(r"no function '(\w+)'", reason)
    column = re.match(r"no column '(?:\w+\.)*(\w+)'", reason)
    pattern = r"(?!)"
    if function:
        pattern = rf"\b{function[1]}\s*\("
    elif column:
        pattern = rf"\b{column[1]}\b"
    found = re.compile(pattern, re.IGNORECASE).search(query.text, query.position)
    return found.start() if found else query.position


def readable(message: str) -> str:
    """The first sentence, without Spark's class in brackets and its advice on the plan."""
    text = message.strip().split("\n")[0]
    text = re.sub(r"^\[[A-Z_.0-9]+\]\s*", "", text)
    text = re.sub(r"\s*SQLSTATE: \w+;?.*$", "", text)
    text = re.sub(r"^Query \[.*?\] terminated with exception: ", "", text)
    unknown = re.match(r"Cannot resolve routine `([^`]+)`", text)
    if unknown:
        return f"no function {unknown[1]!r}{suggestion(unknown[1])}"
    column = re.match(r"A column, .* with name (\S+) cannot be resolved\.(?:.*\[(.*)\])?", text)
    if column:
        known = f"; there are {column[2].replace('`', '')}" if column[2] else ""
        return f"no column {column[1].replace('`', '')!r}{known}"
    return text.removesuffix(".")
