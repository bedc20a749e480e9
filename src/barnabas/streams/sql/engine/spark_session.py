"""The Spark session of SQL: made when a statement first needs it.

It is a session of its own on the shared Spark context: no view or setting of it is seen elsewhere.
Text that is no number casts to null and a division by zero is null, as in ksqlDB: one bad record
must not end a query. Times are UTC.
"""

import logging
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_SETTINGS = {
    "spark.sql.ansi.enabled": "false",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.streaming.stateStore.providerClass": (
        "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
    ),
}


class SparkHouse:
    """One session, for several threads."""

    def __init__(
        self,
        spark: "SparkSession | None" = None,
        master: str | None = None,
        log_file: Path | None = None,
        short_life: bool = False,
    ) -> None:
        self._given = spark
        self._master = master
        self._log_file = log_file
        self._config = {**_QUIET, **(_SHORT_LIFE if short_life else {})}
        self._session: SparkSession | None = None
        self._ours = False
        self._lock = threading.Lock()

    @property
    def started(self) -> bool:
        return self._session is not None

    @property
    def session(self) -> "SparkSession":
        with self._lock:
            if self._session is None:
                self._session = self._make()
            return self._session

    def _make(self) -> "SparkSession":
        from pyspark.sql import SparkSession

        from barnabas.spark import register, session
        from barnabas.spark.jvm_log import stderr_into

        given = self._given or SparkSession.getActiveSession()
        if given is None:
            self._ours = True
            with stderr_into(self._log_file), _own_interrupts():
                given = session(self._master, app_name="barnabas-sql", config=self._config)
            given.sparkContext.setLogLevel("ERROR")
        # Errors come to the caller; PySpark would log each a second time, as a page of JSON.
        for name in ("SQLQueryContextLogger", "DataFrameQueryContextLogger"):
            logging.getLogger(name).setLevel(logging.CRITICAL)
        made = given.newSession()
        for name, value in _SETTINGS.items():
            made.conf.set(name, value)
        register(made)
        return made

    def close(self) -> None:
        """End Spark, if it was started here."""
        with self._lock:
            if self._session is not None and self._ours:
                self._session.stop()
            self._session = None


_SHORT_LIFE = {
    "spark.driver.extraJavaOptions": (
        "-XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=240m -XX:+UseSerialGC"
    )
}
"""A JVM that lives for a script has no use for the costly compiler; but without it Java has room
for a minute's compiled code, and compiles nothing more when that is full."""
_QUIET = {"spark.ui.enabled": "false", "spark.log.level": "ERROR"}


@contextmanager
def _own_interrupts() -> Iterator[None]:
    """Keep Ctrl-C ours: PySpark's handler would cancel the jobs of every query."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    handler = signal.getsignal(signal.SIGINT)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)
