"""Spark sessions: registration of the data source, and settings that were measured to make it
faster.

A micro-batch of ten rows costs about 270 ms in a session with Spark's defaults, and about 45 ms in
this one with the source's option `smallBatchesOnDriver=true`. None of this depends on the speed of
disks; each setting has a comment on what it saves and what it costs.

The registration is Spark's own, with three differences:

- No accumulator. A session gives every Python function an accumulator, and after each call the JVM
  asks the driver's Python process, over a socket, for its additions. A micro-batch from topic to
  topic waits for that at each of its steps, 2 to 3 ms of 40, although nothing here uses
  accumulators. Sources that Spark discovers itself (`pyspark_*` packages) have none either.
- The driver's own Python. Without PYSPARK_PYTHON Spark starts the first `python3` of the search
  path. In a virtual environment that is not activated this Python has no barnabas.
- A complete environment. All queries share one HashMap with the variables of the data source's
  workers. Spark copies it for each plan, while a stream that starts puts four variables into it. If
  a key is new, the copy of another thread fails with ConcurrentModificationException, so a program
  that started several queries failed at random. The keys are in the map from the beginning.

Sessions on this machine use a SPARK_HOME without Spark's Python zip file. Spark's Python processes,
a dozen for one streaming query, would import pyspark from that file, which cannot contain compiled
modules: each process compiles all that it imports, 0.85 s instead of 0.2 s. The installed package
is unzipped and compiled.
"""

import atexit
import os
import shutil
import sys
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import pyspark
from py4j.protocol import Py4JError
from pyspark.errors import PySparkRuntimeError
from pyspark.sql import SparkSession

from barnabas.runtime.java import unsuitable_java
from barnabas.spark.data_source import BarnabasDataSource

LOCAL_CHECKPOINTS = (
    "org.apache.spark.sql.execution.streaming.checkpointing.FileSystemBasedCheckpointFileManager"
)
PYTHON_VARIABLE = "PYSPARK_PYTHON"
PYTHON_SETTING = "spark.pyspark.python"
ZIP = Path("python/lib/pyspark.zip")
STREAM_VARIABLES = (
    "SPARK_LOCAL_DIRS",
    "SPARK_AUTH_SOCKET_TIMEOUT",
    "SPARK_BUFFER_SIZE",
    "SPARK_PYTHON_RUNTIME",
)
"""Spark sets these before it starts any Python process, so their first values are never read."""
REGISTRATION_LOGGER = "org.apache.spark.sql.execution.datasources.DataSourceManager"


def session(
    master: str | None = None,
    *,
    app_name: str = "barnabas",
    config: Mapping[str, object] | None = None,
    shared_checkpoints: bool = False,
) -> SparkSession:
    """Returns a session with the source, the sink and tuned settings.

    Args:
        master: Spark's master; by default `local[*]`.
        app_name: The name of the application.
        config: Spark settings; they win over the tuned ones.
        shared_checkpoints: True leaves out the settings that are safe only while one driver on one
            machine writes a checkpoint directory: for checkpoints on HDFS, S3 or a network disk.

    >>> spark = session("local[2]")  # doctest: +SKIP
    >>> orders = (  # doctest: +SKIP
    ...     spark.readStream.format("barnabas")
    ...     .option("kafka.bootstrap.servers", "localhost:9092")
    ...     .option("subscribe", "orders")
    ...     .load()
    ... )
    """
    chosen = master or "local[*]"
    if chosen.startswith("local"):
        # The workers must run this Python, not the first python3 of the search path.
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
        use_unzipped_home()
    builder: SparkSession.Builder = SparkSession.builder
    builder = builder.appName(app_name).master(chosen)
    settings = {**safe_settings(), **_shuffle_settings(chosen)}
    if not shared_checkpoints:
        settings.update(local_checkpoint_settings())
    for name, value in {**settings, **(config or {})}.items():
        builder = builder.config(name, value)
    spark = start(builder)
    if not shared_checkpoints:
        _without_checksum_files(spark)
    register(spark)
    return spark


def start(builder: SparkSession.Builder) -> SparkSession:
    """Returns the session of a builder; LocalError if there is no suitable Java."""
    try:
        spark: SparkSession = builder.getOrCreate()
    except PySparkRuntimeError as error:
        if error.getCondition() != "JAVA_GATEWAY_EXITED":
            raise
        raise unsuitable_java("Spark") from error
    return spark


def safe_settings() -> dict[str, str]:
    """Returns settings for every session, also on a cluster."""
    return {
        # Saves about 40 ms for each step between the JVM and Python: over TCP on the loopback
        # device, small responses wait for a delayed acknowledgement.
        "spark.python.unix.domain.socket.enabled": "true",
        # Spark rejects a batch reader that turns filters into seeks without it.
        "spark.sql.python.filterPushdown.enabled": "true",
        # The progress bar overwrites the output of a program.
        "spark.ui.showConsoleProgress": "false",
    }


def local_checkpoint_settings() -> dict[str, str]:
    """Returns settings for one driver on one machine.

    The default manager, on a local path and without Hadoop's native library, starts processes
    (readlink, chmod) for each log file: 80 to 110 ms per batch. The manager chosen here
    has no atomic rename, which detects a second driver that writes the same checkpoint.
    """
    return {"spark.sql.streaming.checkpointFileManagerClass": LOCAL_CHECKPOINTS}


def _shuffle_settings(master: str) -> dict[str, str]:
    """Returns as many shuffle partitions as cores on one machine: with Spark's 200 each batch of a
    stateful query has 200 tasks and is five times slower.
    """
    if not master.startswith("local["):
        return {}
    count = master.removeprefix("local[").split("]")[0].split(",")[0]
    cores = int(count) if count.isdigit() else os.cpu_count() or 1
    return {"spark.sql.shuffle.partitions": str(cores)}


def _without_checksum_files(spark: SparkSession) -> None:
    """Turns off the `.crc` file beside each small log file: half the files per batch. Checksums are
    still verified where such a file exists.
    """
    jvm, java_session = getattr(spark, "_jvm", None), getattr(spark, "_jsparkSession", None)
    if jvm is None or java_session is None:  # Spark Connect: the server writes the files
        return
    hadoop = java_session.sparkContext().hadoopConfiguration()
    jvm.org.apache.hadoop.fs.FileSystem.getLocal(hadoop).setWriteChecksum(False)


def register(spark: SparkSession) -> None:
    """Adds `format("barnabas")` to a session that `session()` has not made."""
    registration: Any = spark.dataSource
    if getattr(spark, "_jvm", None) is not None:  # Spark Connect has no local context
        use_drivers_python(spark)
        _without_replacement_warnings(spark)
        environment = {**dict.fromkeys(STREAM_VARIABLES, ""), **spark.sparkContext.environment}
        context = _AttributeOverride(
            spark.sparkContext, _javaAccumulator=None, environment=environment
        )
        registration = type(registration)(_AttributeOverride(spark, sparkContext=context))
    registration.register(BarnabasDataSource)


def _without_replacement_warnings(spark: SparkSession) -> None:
    """Silences the logger that warns that the registered source replaces the discovered one.

    Spark discovers the source in the package `pyspark_barnabas`. It warns at the registration and,
    because it copies the session, at the start of each streaming query.
    """
    jvm: Any = spark.sparkContext._jvm  # noqa: SLF001 - PySpark has no public access to the JVM
    log4j = jvm.org.apache.logging.log4j
    with suppress(TypeError, Py4JError):  # another logging library than Spark's own
        log4j.core.config.Configurator.setLevel(REGISTRATION_LOGGER, log4j.Level.ERROR)


def use_drivers_python(spark: SparkSession) -> None:
    """Makes the workers of a local session run the driver's Python, unless another one was chosen.

    The workers of a cluster run on other machines, where the path may not exist.
    """
    context: Any = spark.sparkContext
    chosen = PYTHON_VARIABLE in os.environ or context.getConf().contains(PYTHON_SETTING)
    if not chosen and context.master.startswith("local"):
        context.pythonExec = sys.executable


class _AttributeOverride:
    """A proxy of an object that replaces some of its attributes."""

    def __init__(self, whole: object, **instead: object) -> None:
        self.__dict__.update(instead)
        self._whole = whole

    def __getattr__(self, name: str) -> Any:
        return getattr(self._whole, name)


def use_unzipped_home() -> None:
    """Sets SPARK_HOME, unless it is set, for the JVM that this process will start."""
    installed = Path(pyspark.__file__).parent
    if "SPARK_HOME" in os.environ or not (installed / ZIP).is_file():
        return
    directory = Path(tempfile.mkdtemp(prefix="barnabas-spark-home-"))
    atexit.register(shutil.rmtree, directory, ignore_errors=True)
    link_without_zip(installed, directory)
    os.environ["SPARK_HOME"] = str(directory)


def link_without_zip(installed: Path, directory: Path) -> None:
    """Creates links in `directory` to all files of Spark except its zip file of Python."""
    _link_all(installed, directory, but="python")
    _link_all(installed / "python", directory / "python", but="lib")
    _link_all(installed / "python" / "lib", directory / "python" / "lib", but=ZIP.name)


def _link_all(source: Path, target: Path, *, but: str) -> None:
    target.mkdir(parents=True, exist_ok=True)
    for item in source.iterdir():
        if item.name != but:
            (target / item.name).symlink_to(item)
