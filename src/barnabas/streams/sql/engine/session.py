"""The Spark session of SQL, Spark's errors as SQL errors, and the properties of SET."""

import logging
import re
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import barnabas.spark
from barnabas.streams.run import CAUSE, stderr_into
from barnabas.streams.sql.engine.activity import Activity
from barnabas.streams.sql.engine.results import Result, TextResult
from barnabas.streams.sql.language.errors import SqlError
from barnabas.streams.sql.language.statements import Query, SetProperty
from barnabas.streams.sql.relations import close_name
from barnabas.streams.sql.translation.expressions import suggestion

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_SETTINGS = {
    "spark.sql.ansi.enabled": "false",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.streaming.stateStore.providerClass": (
        "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
    ),
}


INTERRUPT_TASKS = "spark.job.interruptOnCancel"
CLOSE_SECONDS = 0.2


class LazySparkSession:
    """A Spark session that is created at its first use. Thread-safe.

    It is a separate session on the shared Spark context: its views and settings are not visible
    elsewhere. Text that is not a number casts to null and a division by zero is null, as in ksqlDB,
    so that one invalid record does not end a query. Times are UTC.
    """

    def __init__(
        self,
        spark: "SparkSession | None" = None,
        master: str | None = None,
        log_file: Path | None = None,
        short_life: bool = False,
        activity: Activity | None = None,
    ) -> None:
        self.activity = activity or Activity()
        self._given = spark
        self._master = master
        self._log_file = log_file
        self._config = {**_QUIET, **(_SHORT_LIFE if short_life else {})}
        self._session: SparkSession | None = None
        self._owns_session = False
        self._lock = threading.Lock()

    @property
    def started(self) -> bool:
        return self._session is not None

    @property
    def session(self) -> "SparkSession":
        found = self._session
        if found is not None:
            return found
        # Around the lock: another thread may be starting Spark.
        with self.activity.step("starting Spark"), self._lock:
            if self._session is None:
                self._session = self._make()
            return self._session

    @contextmanager
    def interruptible(self) -> Iterator["SparkSession"]:
        """Returns the session; `interrupt` ends the tasks of the jobs that this thread starts."""
        spark = self.session
        # Without it a cancelled task computes on until its next record.
        spark.sparkContext.setLocalProperty(INTERRUPT_TASKS, "true")
        try:
            yield spark
        finally:
            spark.sparkContext.setLocalProperty(INTERRUPT_TASKS, "false")

    def interrupt(self) -> None:
        """Ends the jobs of SELECT; streaming queries continue, because each has its own session.

        Not by a tag: Spark finds the tags of the calling thread only.
        """
        found = self._session
        if found is not None:
            found.interruptAll()

    def _make(self) -> "SparkSession":
        # Start-up time: PySpark takes a second to import.
        from pyspark.sql import SparkSession

        given = self._given or SparkSession.getActiveSession()
        if given is None:
            self._owns_session = True
            with stderr_into(self._log_file), _own_interrupts():
                given = barnabas.spark.session(
                    self._master, app_name="barnabas-sql", config=self._config
                )
            given.sparkContext.setLogLevel("ERROR")
        # Errors are raised to the caller; PySpark would also log each of them as a page of JSON.
        for name in ("SQLQueryContextLogger", "DataFrameQueryContextLogger"):
            logging.getLogger(name).setLevel(logging.CRITICAL)
        made = given.newSession()
        for name, value in _SETTINGS.items():
            made.conf.set(name, value)
        barnabas.spark.register(made)
        return made

    def close(self) -> None:
        """Stops Spark, if this object has started it."""
        # Another thread may be starting Spark. The JVM ends with this process.
        if not self._lock.acquire(timeout=CLOSE_SECONDS):
            return
        try:
            if self._session is not None and self._owns_session:
                self._session.stop()
            self._session = None
        finally:
            self._lock.release()


_SHORT_LIFE = {
    "spark.driver.extraJavaOptions": (
        "-XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=240m -XX:+UseSerialGC"
    )
}
"""For scripts: in a short run the JVM's second compiler costs more than it saves. Without it the
default code cache is full after about a minute, so it is set larger."""
_QUIET = {"spark.ui.enabled": "false", "spark.log.level": "ERROR"}


@contextmanager
def _own_interrupts() -> Iterator[None]:
    """Restores the SIGINT handler: PySpark's handler would cancel the jobs of every query."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    handler = signal.getsignal(signal.SIGINT)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)


def spark_exception() -> type[Exception]:
    """Returns the base of Spark's exceptions, for an `except` clause."""
    # Start-up time: PySpark takes a second to import.
    from pyspark.errors import PySparkException

    return PySparkException


@contextmanager
def spark_errors(query: Query) -> Iterator[None]:
    """Converts Spark's exceptions to SqlError, with a position in the query."""
    try:
        yield
    except spark_exception() as error:
        reason = readable(str(error))
        raise SqlError(reason, query.text, _position(reason, query)) from error


@contextmanager
def spark_failures() -> Iterator[None]:
    """Converts errors of Spark and of the connection to its JVM to SqlError, without a position."""
    try:
        yield
    except Exception as error:
        # By module: importing PySpark takes a second, and many statements do not need it.
        if not type(error).__module__.startswith(("pyspark.", "py4j.")):
            raise
        raise SqlError(f"Spark: {failure_text(error)}") from error


def failure_text(error: BaseException) -> str:
    """Returns the reason of a failed query in one line: the innermost error, without plan and
    stack.
    """
    text = str(error)
    causes = CAUSE.findall(text)
    if causes:
        name, reason = causes[-1]
        return f"{name}: {readable(reason)}"
    return readable(text)


def _position(reason: str, query: Query) -> int:
    """Returns the position of the unknown name in a query, or else that of the query."""
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
    """Returns the first line of Spark's message, without the error class and the plan."""
    text = message.strip().split("\n")[0]
    text = re.sub(r"^\[[A-Z_.0-9]+\]\s*", "", text)
    text = re.sub(r"\s*SQLSTATE: \w+;?.*$", "", text)
    text = re.sub(r"^Query \[.*?\] terminated with exception: ", "", text)
    unknown = re.match(r"Cannot resolve routine `([^`]+)`", text)
    if unknown:
        return f"no function {unknown[1]!r}{suggestion(unknown[1])}"
    column = re.match(r"A column, .* with name (\S+) cannot be resolved\.(?:.*\[(.*)\])?", text)
    if column:
        known = f"; columns are {column[2].replace('`', '')}" if column[2] else ""
        return f"no column {column[1].replace('`', '')!r}{known}"
    return text.removesuffix(".")


OFFSET_RESET, DEFAULT_RESET = "auto.offset.reset", "latest"
PROPERTIES = {OFFSET_RESET: ("earliest", "latest")}


def default_properties() -> dict[str, str]:
    return {OFFSET_RESET: DEFAULT_RESET}


def set_property(statement: SetProperty, properties: dict[str, str]) -> Result:
    """Changes one of `properties`; without a value it gets its default."""
    name, value = statement.name, statement.value or DEFAULT_RESET
    if name not in PROPERTIES:
        raise SqlError(f"no property {name!r}{close_name(name, PROPERTIES)}")
    if value not in PROPERTIES[name]:
        raise SqlError(f"{name} must be one of {', '.join(PROPERTIES[name])}")
    properties[name] = value
    return TextResult(f"{name} is {value}")
