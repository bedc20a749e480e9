"""A program of its own, to be killed: a streaming query that copies one topic to another.

Arguments: bootstrap servers, source and target topic, checkpoint directory, `follow` or `finish`.
"""

import sys

from barnabas.spark import session

SHORT_LIFE = {"spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"}
"""A JVM that lives for a minute has no use for the costly compiler."""


def main():
    servers, source, target, checkpoint, mode = sys.argv[1:]
    # Four tries for a task: a lost worker must not end the query.
    spark = session("local[2,4]", config={**SHORT_LIFE, "spark.ui.enabled": "false"})
    kafka = {"kafka.bootstrap.servers": servers}
    read = spark.readStream.format("barnabas").options(
        **kafka,
        subscribe=source,
        startingOffsets="earliest",
        maxOffsetsPerTrigger="40",
        minPartitions="2",
    )
    write = read.load().select("key", "value", "partition").writeStream.format("barnabas")
    write = write.options(**kafka, topic=target, checkpointLocation=checkpoint)
    if mode == "finish":
        write = write.trigger(availableNow=True)
    write.start().awaitTermination()
    spark.stop()


if __name__ == "__main__":
    main()
