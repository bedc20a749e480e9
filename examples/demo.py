"""End to end on the embedded default: a broker, a producer of notifications, a reader that counts.

Users of a small social network get messages, likes and comments. The producer writes one event
per notification, keyed by user; the reader follows every partition and keeps a live table of
notifications per user and kind. At the end both sides' counts are compared. It stops by itself
and leaves nothing running.
"""

import json
import random
import sys
import threading
import time
from collections import Counter

from barnabas import Producer, SimpleConsumer
from barnabas.testing import Broker

TOPIC = "notifications"
PARTITIONS = 3
USERS = ("alice", "bob", "chen", "dana", "erik")
KINDS = ("message", "like", "comment")
EVENTS = 30_000
FRAME_SECONDS = 0.25

Table = Counter[tuple[str, str]]


def main() -> int:
    settings: dict[str, object] = {"num.partitions": PARTITIONS}
    with Broker(settings) as broker:
        print(f"broker listening on {broker.bootstrap_servers}, data in {broker.data_dir}")
        sent: Table = Counter()
        writer = threading.Thread(target=produce, args=(broker.bootstrap_servers, sent))
        begin = time.perf_counter()
        writer.start()
        seen = consume(broker.bootstrap_servers)
        writer.join()
        elapsed = time.perf_counter() - begin
    print(f"\n{EVENTS} events written, stored and read back in {elapsed:.1f} s")
    if seen != sent:
        print("the reader's counts differ from the writer's")
        return 1
    print("the reader's counts equal the writer's, user by user and kind by kind")
    return 0


def produce(address: str, sent: Table) -> None:
    """Write all events; a context manager delivers what is left before it closes."""
    dice = random.Random(7)
    with Producer({"bootstrap.servers": address, "compression.type": "lz4"}) as producer:
        for number in range(EVENTS):
            user, kind = dice.choice(USERS), dice.choice(KINDS)
            event = {"user": user, "kind": kind, "text": f"notification {number}"}
            producer.send(TOPIC, json.dumps(event).encode(), key=user.encode())
            sent[user, kind] += 1
            if number % 500 == 0:
                threading.Event().wait(0.05)  # so that there is something to watch


def consume(address: str) -> Table:
    """Follow every partition until all events were seen, showing the table as it grows."""
    seen: Table = Counter()
    positions = dict.fromkeys(range(PARTITIONS), 0)
    screen = Screen()
    with SimpleConsumer(bootstrap_servers=address, fetch_max_wait_ms=50) as consumer:
        while seen.total() < EVENTS:
            for partition, position in positions.items():
                fetched = consumer.fetch(TOPIC, partition, position)
                records, positions[partition] = fetched.decode()
                for record in records:
                    event = json.loads(record.value or b"{}")
                    seen[event["user"], event["kind"]] += 1
            screen.show(seen)
    screen.show(seen, last=True)
    return seen


class Screen:
    """The table, redrawn in place on a terminal, printed once at the end elsewhere."""

    def __init__(self) -> None:
        self._live = sys.stdout.isatty()
        self._drawn_at = 0.0
        self._lines = 0

    def show(self, table: Table, *, last: bool = False) -> None:
        now = time.perf_counter()
        if not last and (not self._live or now - self._drawn_at < FRAME_SECONDS):
            return
        self._drawn_at = now
        lines = self._table(table)
        if self._lines:
            print(f"\033[{self._lines}A", end="")
        print("\n".join(lines), flush=True)
        self._lines = len(lines) if self._live else 0

    def _table(self, table: Table) -> list[str]:
        lines = [f"{'USER':10}" + "".join(f"{kind.upper():>10}" for kind in KINDS)]
        for user in USERS:
            counts = "".join(f"{table[user, kind]:10d}" for kind in KINDS)
            lines.append(f"{user:10}{counts}")
        return lines


if __name__ == "__main__":
    sys.exit(main())
