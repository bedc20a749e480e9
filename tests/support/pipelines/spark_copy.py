"""Streaming queries that copy one topic, to another topic and into databases, each exactly once.

As a program, to be killed: `python spark_copy.py PLAN` with the plan as JSON, until it is killed.
"""

import json
import sys
from dataclasses import asdict, dataclass, field
from pathlib import Path

from barnabas.spark import DatabaseSink, session

SHORT_LIFE = {"spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"}
"""A JVM that lives for a minute has no use for the costly compiler."""

TABLE = "copies"
CREATE_TABLE = f"CREATE TABLE {TABLE} (part INT, at BIGINT, val TEXT, {{order}})"
IN_ORDER = {
    "sqlite": "turn INTEGER PRIMARY KEY AUTOINCREMENT",
    "postgresql": "turn BIGSERIAL PRIMARY KEY",
}
"""A column that tells in which order rows came."""


@dataclass(frozen=True)
class Plan:
    """Source and targets of a copy: a checkpoint for the topic, one for each database."""

    servers: str
    source: str
    target: str
    checkpoints: str
    databases: list[str] = field(default_factory=list)
    tasks: int = 2
    """Of the copy to the topic. With one, the driver reads the records of small batches."""

    def checkpoint(self, name):
        return Path(self.checkpoints) / name

    @property
    def names(self):
        return ["topic", *(url.partition(":")[0] for url in self.databases)]

    def text(self):
        return json.dumps(asdict(self))


def start_query(spark, plan, name, *, batch, finish):
    """The query for one target; with `finish` it ends when all is copied."""
    kafka = {"kafka.bootstrap.servers": plan.servers}
    source = (
        spark.readStream.format("barnabas")
        .options(**kafka, subscribe=plan.source, startingOffsets="earliest")
        .options(maxOffsetsPerTrigger=str(batch))
    )
    if name != "topic" or plan.tasks > 1:
        source = source.option("minPartitions", "2")
    rows = source.load()
    if name == "topic":
        records = rows.select("key", "value", "partition").writeStream.format("barnabas")
        writer = records.options(**kafka, topic=plan.target)
    else:
        [url] = [url for url in plan.databases if url.startswith(name)]
        columns = ("partition AS part", "offset AS at", "string(value) AS val")
        sink = DatabaseSink.at(url, TABLE)
        writer = rows.selectExpr(*columns).writeStream.foreachBatch(sink)
    writer = writer.option("checkpointLocation", str(plan.checkpoint(name)))
    return (writer.trigger(availableNow=True) if finish else writer).start()


def main():
    plan = Plan(**json.loads(sys.argv[1]))
    # Four tries for a task: a lost worker must not end the query.
    spark = session("local[2,4]", config={**SHORT_LIFE, "spark.ui.enabled": "false"})
    for name in plan.names:
        start_query(spark, plan, name, batch=50, finish=False)
    spark.streams.awaitAnyTermination()


if __name__ == "__main__":
    main()
