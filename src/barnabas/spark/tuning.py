"""A Spark session with settings for topics, each of which was measured to make a difference.

A micro-batch of ten rows costs about 270 ms in a session with Spark's defaults, and about 45 ms in
this one with the source's option `smallBatchesOnDriver=true`. None of this depends on the speed of
disks; each setting has a comment on what it saves and what it costs.
"""

import os
import sys
from collections.abc import Mapping
from typing import Any

from pyspark.errors import PySparkRuntimeError
from pyspark.sql import SparkSession

from barnabas.runtime.java import unsuitable_java
from barnabas.spark import register
from barnabas.spark.spark_home import use_unzipped_home

LOCAL_CHECKPOINTS = (
    "org.apache.spark.sql.execution.streaming.checkpointing.FileSystemBasedCheckpointFileManager"
)


def make_session(
    master: str | None = None,
    *,
    app_name: str = "barnabas",
    config: Mapping[str, object] | None = None,
    shared_checkpoints: bool = False,
) -> SparkSession:
    """A session with `format("barnabas")` and tuned settings; `config` wins over them.

    `shared_checkpoints=True` leaves out what is only safe while one driver at a time, on one
    machine, writes a checkpoint directory: for checkpoints on HDFS, S3 or a network disk.
    """
    chosen = master or "local[*]"
    if chosen.startswith("local"):
        # The workers run the Python that runs this, not the first python3 of the search path.
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
        use_unzipped_home()
    builder: Any = SparkSession.builder
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


def start(builder: Any) -> SparkSession:
    """The session of a builder; LocalError when there is no Java that can run it."""
    try:
        spark: SparkSession = builder.getOrCreate()
    except PySparkRuntimeError as error:
        if error.getCondition() != "JAVA_GATEWAY_EXITED":
            raise
        raise unsuitable_java("Spark") from error
    return spark


def safe_settings() -> dict[str, str]:
    """Good for every session, on a cluster too."""
    return {
        # Saves about 40 ms for each step between the JVM and Python: over TCP on the loopback
        # small answers wait for a delayed acknowledgement.
        "spark.python.unix.domain.socket.enabled": "true",
        # Without it a batch reader that turns filters into seeks cannot be planned.
        "spark.sql.python.filterPushdown.enabled": "true",
        # The progress bar writes over what a program prints.
        "spark.ui.showConsoleProgress": "false",
    }


def local_checkpoint_settings() -> dict[str, str]:
    """For one driver on one machine.

    The default manager, on a local path and without Hadoop's native library, starts processes
    (readlink, chmod) for each log file: 80 to 110 ms per batch. The price of the other one: two
    drivers that write the same checkpoint at once are not kept apart by an atomic rename.
    """
    return {"spark.sql.streaming.checkpointFileManagerClass": LOCAL_CHECKPOINTS}


def _shuffle_settings(master: str) -> dict[str, str]:
    """As many shuffle partitions as cores on one machine: with Spark's 200 each batch of a
    stateful query has 200 tasks, five times slower."""
    if not master.startswith("local["):
        return {}
    count = master.removeprefix("local[").split("]")[0].split(",")[0]
    cores = int(count) if count.isdigit() else os.cpu_count() or 1
    return {"spark.sql.shuffle.partitions": str(cores)}


def _without_checksum_files(spark: SparkSession) -> None:
    """No `.crc` beside each small log file: half the files per batch. Checksums are still
    verified where such a file exists."""
    jvm, java_session = getattr(spark, "_jvm", None), getattr(spark, "_jsparkSession", None)
    if jvm is None or java_session is None:  # Spark Connect: the files are the server's
        return
    hadoop = java_session.sparkContext().hadoopConfiguration()
    jvm.org.apache.hadoop.fs.FileSystem.getLocal(hadoop).setWriteChecksum(False)
