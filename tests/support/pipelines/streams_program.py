"""A separate program that a test kills: a stream joined with a table, and a count of the result.

Arguments: bootstrap servers, prefix of the topics, directory, `follow` or `finish`.
"""

import sys
from pathlib import Path

from support.pipelines.spark_copy import SHORT_LIFE

from barnabas.streams import Runner, Stream, Table, Topology

BATCH = 40


def topology(prefix, directory):
    users = Table(f"{prefix}-users", "name string")
    clicks = Stream(f"{prefix}-clicks", "user string, number bigint")
    named = clicks.join(users, on="user", columns={"name": "right.name", "number": "left.number"})
    counts = named.group_by("name").aggregate(n="count(*)", total="sum(number)")
    return Topology(
        prefix,
        named.to(f"{prefix}-named"),
        counts.to(f"{prefix}-counts"),
        counts.view(str(Path(directory) / "counts.db")),
    )


def runner(servers, prefix, directory, spark, batch):
    return Runner(
        topology(prefix, directory),
        bootstrap_servers=servers,
        checkpoint=str(Path(directory) / "checkpoint"),
        spark=spark,
        options={"maxOffsetsPerTrigger": str(batch)},
    )


def main():
    from barnabas.spark import session

    servers, prefix, directory = sys.argv[1:]
    spark = session("local[2]", config={**SHORT_LIFE, "spark.ui.enabled": "false"})
    runner(servers, prefix, directory, spark, BATCH).start().wait()


if __name__ == "__main__":
    main()
