"""A group member of any client library, in a process that prints its events.

Usage: python foreign_member.py LIBRARY BOOTSTRAP GROUP TOPIC [KEY=VALUE...]
LIBRARY is confluent, kafka-python or aiokafka. Prints one line per event: "own 0,1" for an
assignment, "read PARTITION OFFSET" for each record; offsets are committed after reading. SIGTERM
leaves the group; SIGKILL is the crash.
"""

import asyncio
import signal
import sys

STOP = []


def tell(*words):
    print(*words, flush=True)


def own(found):
    tell("own", ",".join(str(one.partition) for one in sorted(found)) or "-")


def confluent(bootstrap, group, topic, options):
    from confluent_kafka import Consumer, KafkaException

    config = {
        "bootstrap.servers": bootstrap,
        "group.id": group,
        "auto.offset.reset": "earliest",
        "enable.auto.commit": False,
        "log_level": 0,
    }
    if options.get("group.protocol") != "consumer":
        config |= {"session.timeout.ms": 3000, "heartbeat.interval.ms": 300}
    member = Consumer(config | options)
    member.subscribe([topic])
    known = []
    while not STOP:
        message = member.poll(0.1)
        if member.assignment() != known:  # callbacks get only the added partitions
            known = member.assignment()
            own(known)
        if message is not None and message.error() is None:
            tell("read", message.partition(), message.offset())
            try:
                member.commit(message, asynchronous=False)
            except KafkaException:
                continue  # it will be read again
    member.close()


def kafka_python(bootstrap, group, topic, _options):
    import kafka
    from kafka.errors import KafkaError

    class Listener(kafka.ConsumerRebalanceListener):
        def on_partitions_revoked(self, revoked):
            pass

        def on_partitions_assigned(self, assigned):
            own(assigned)

    member = kafka.KafkaConsumer(
        bootstrap_servers=bootstrap,
        group_id=group,
        auto_offset_reset="earliest",
        enable_auto_commit=False,
        session_timeout_ms=3000,
        heartbeat_interval_ms=300,
    )
    member.subscribe([topic], listener=Listener())
    while not STOP:
        for records in member.poll(timeout_ms=1000).values():
            for record in records:
                tell("read", record.partition, record.offset)
            try:
                member.commit()
            except KafkaError:
                continue
    member.close()


def aiokafka(bootstrap, group, topic, _options):
    asyncio.run(_aiokafka(bootstrap, group, topic))


async def _aiokafka(bootstrap, group, topic):
    from aiokafka import AIOKafkaConsumer, ConsumerRebalanceListener
    from aiokafka.errors import KafkaError

    class Listener(ConsumerRebalanceListener):
        def on_partitions_revoked(self, revoked):
            pass

        def on_partitions_assigned(self, assigned):
            own(assigned)

    member = AIOKafkaConsumer(
        bootstrap_servers=bootstrap,
        group_id=group,
        auto_offset_reset="earliest",
        enable_auto_commit=False,
        session_timeout_ms=3000,
        heartbeat_interval_ms=300,
    )
    await member.start()
    member.subscribe([topic], listener=Listener())
    while not STOP:
        for records in (await member.getmany(timeout_ms=200)).values():
            for record in records:
                tell("read", record.partition, record.offset)
            try:
                await member.commit()
            except KafkaError:
                continue
    await member.stop()


LIBRARIES = {"confluent": confluent, "kafka-python": kafka_python, "aiokafka": aiokafka}

if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: STOP.append(True))
    library, address, group_id, topic_name, *settings = sys.argv[1:]
    LIBRARIES[library](address, group_id, topic_name, dict(one.split("=", 1) for one in settings))
