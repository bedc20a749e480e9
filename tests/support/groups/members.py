"""Consumers in separate threads, as members of a group in tests."""

import threading
import time
from collections import Counter

from barnabas.clients.group import Consumer


class Member:
    """Polls until stopped; records the read records and the calls of its listener."""

    def __init__(self, name, config, topics, pause_s=0.0):
        self.name = name
        self.values = Counter()
        self.events = []
        self.consumer = Consumer({**config, "client.id": name})
        self.failure = None
        self._pause_s = pause_s
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, args=(topics,), name=name, daemon=True)
        self._thread.start()

    def on_partitions_assigned(self, partitions):
        self._heard("assigned", partitions)

    def on_partitions_revoked(self, partitions):
        self._heard("revoked", partitions)

    def on_partitions_lost(self, partitions):
        self._heard("lost", partitions)

    @property
    def assigned(self):
        return self.consumer.assignment()

    def stop(self):
        self._stop.set()
        self._thread.join(30)
        assert not self._thread.is_alive(), f"{self.name} does not end"
        if self.failure is not None:
            raise self.failure

    def _heard(self, what, partitions):
        assert threading.current_thread() is self._thread, "a listener is called where poll() is"
        self.events.append((what, sorted(partitions)))

    def _run(self, topics):
        try:
            self.consumer.subscribe(topics, self)
            while not self._stop.is_set():
                for records in self.consumer.poll(0.1).values():
                    self.values.update(record.value for record in records)
                self._stop.wait(self._pause_s)
        except BaseException as error:  # noqa: BLE001 - for the thread that stops it
            self.failure = error
        finally:
            self.consumer.close()


def wait_until(condition, seconds=150.0):
    """Waits until `condition()` is true; fails after `seconds`."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "not within the time allowed"
        threading.Event().wait(0.02)


def shares(members):
    """Returns the number of partitions per member, largest first; None while two own the same
    one.
    """
    held = [topic_partition for member in members for topic_partition in member.assigned]
    return (
        sorted((len(member.assigned) for member in members), reverse=True)
        if len(set(held)) == len(held)
        else None
    )
