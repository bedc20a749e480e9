"""A session on a cluster of processes on this machine, for tests: `local-cluster[1,1,1024]`.

Executors are JVMs of their own, with Python workers of their own: what only works because a task
shares memory with the driver fails there.
"""

from support.pipelines.spark_copy import SHORT_LIFE
from support.soak import SOAK

MASTER = "local-cluster[2,1,1024]" if SOAK else "local-cluster[1,1,1024]"
"""In the short form one executor, which is a process apart from the driver too."""


def cluster_session(master, place):
    from barnabas.spark import session

    settings = {
        **SHORT_LIFE,
        "spark.executor.extraJavaOptions": SHORT_LIFE["spark.driver.extraJavaOptions"],
        "spark.executor.memory": "768m",
        "spark.driver.memory": "1g",
        "spark.ui.enabled": "false",
        "spark.sql.shuffle.partitions": "2",
        "spark.sql.warehouse.dir": str(place / "warehouse"),
        "spark.local.dir": str(place / "local"),
        "spark.sql.session.timeZone": "UTC",
    }
    made = session(master, config=settings)
    made.sparkContext.setLogLevel("ERROR")
    return made
