"""A consumer process that counts records in a database, to be killed at any moment.

`python database_member.py ADDRESS TOPIC DATABASE`: runs until killed.
"""

import sqlite3
import sys

from barnabas import Consumer
from barnabas.clients.group.database import DatabaseSink


def store(cursor, records):
    rows = [(record.partition, record.offset, int(record.value)) for record in records]
    cursor.executemany("INSERT INTO results VALUES (?, ?, ?)", rows)


def main(address, topic, database):
    connection = sqlite3.connect(database, timeout=30)
    connection.execute("CREATE TABLE IF NOT EXISTS results (part INT, at INT, value INT)")
    sink = DatabaseSink(connection, group="g")
    sink.create_table()
    consumer = Consumer(
        {
            "bootstrap.servers": address,
            "group.id": topic,
            "auto.offset.reset": "earliest",
            "enable.auto.commit": False,
            "session.timeout.ms": 600,
            "heartbeat.interval.ms": 100,
            "fetch.max.wait.ms": 50,
            "max.poll.records": 20,
        }
    )
    sink.subscribe(consumer, [topic])
    while True:
        if sink.consume(consumer, store):
            print("stored", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
