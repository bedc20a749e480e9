"""A group member in a separate process that a test can kill; prints one JSON line per event.

Usage: python group_churn_member.py BOOTSTRAP GROUP TOPIC PROTOCOL LOGFILE
Events: assigned (generation, member, partitions); revoked, lost (partitions); read, committed
(partition, offset); commit failed (reason).
Offsets are committed after reading, so that a killed member's records are read again. A commit
that a rebalance made fail is repeated: the member may keep the partition and get no further record.
"""

import json
import signal
import sys
import time
from pathlib import Path

from confluent_kafka import Consumer, KafkaError, KafkaException


def main(bootstrap, group, topic, protocol, log_path):
    stop = []
    signal.signal(signal.SIGTERM, lambda *_: stop.append(True))
    with Path(log_path).open("a", buffering=1) as log:
        run(consumer(bootstrap, group, protocol), topic, log, stop)


def consumer(bootstrap, group, protocol):
    config = {
        "bootstrap.servers": bootstrap,
        "group.id": group,
        "auto.offset.reset": "earliest",
        "enable.auto.commit": False,
        "group.protocol": protocol,
        "log_level": 0,
    }
    if protocol == "classic":
        config |= {"session.timeout.ms": 2_000, "heartbeat.interval.ms": 300}
    return Consumer(config)


def run(member, topic, log, stop):
    def tell(event, **details):
        log.write(json.dumps({"t": time.monotonic(), "event": event, **details}) + "\n")

    def partitions(found):
        return [one.partition for one in found]

    member.subscribe(
        [topic],
        on_assign=lambda _c, found: tell(
            "assigned",
            generation=generation(member),
            member=member.memberid(),
            partitions=partitions(found),
        ),
        on_revoke=lambda _c, found: tell("revoked", partitions=partitions(found)),
        on_lost=lambda _c, found: tell("lost", partitions=partitions(found)),
    )
    all_committed = True
    while not stop:
        messages = [one for one in member.consume(100, 0.1) if one.error() is None]
        for one in messages:
            tell("read", partition=one.partition(), offset=one.offset())
        if messages or not all_committed:
            all_committed = commit(member, tell)
    member.close()


def generation(member):
    """librdkafka returns it only inside an opaque value: "CGMDv2:", then an int32."""
    metadata = member.consumer_group_metadata()
    assert metadata.startswith(b"CGMDv2:")
    return int.from_bytes(metadata[7:11], sys.byteorder, signed=True)


def commit(member, tell):
    """Commit everything read of the assigned partitions; False if that must be tried again."""
    try:
        done = member.commit(asynchronous=False)
    except KafkaException as error:
        # NO_OFFSET: the partitions were revoked; their new owner reads the records again.
        tell("commit failed", reason=str(error))
        return error.args[0].code() == KafkaError._NO_OFFSET
    for one in done:
        if one.error is None and one.offset >= 0:  # else nothing was read of it
            tell("committed", partition=one.partition, offset=one.offset)
    return all(one.error is None for one in done)


if __name__ == "__main__":
    main(*sys.argv[1:])
