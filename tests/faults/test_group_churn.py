"""Members of a group join, leave and are killed while records are produced and read.

Every record is read at least once, no partition has two owners in one generation, and a committed
offset never decreases within a generation. Two members of different generations may own a partition
at the same time only if the group had removed the earlier one: the group removes a member that
sends no heartbeat during its session timeout, and a member that still runs detects this only by the
response to its next heartbeat.
"""

import itertools
import json
import logging
import random
import re
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import NamedTuple

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition
from support.groups.foreign_groups import create_topic
from support.soak import SOAK

from barnabas.testing import Broker

pytestmark = pytest.mark.faults

SECONDS = 60 if SOAK else 15
TURNS = 16  # at least: a machine with much else to do takes longer for them
HANG_SECONDS = 4  # twice the session time-out
MEMBERS = 8
PARTITIONS = 12
SCRIPT = Path(__file__).parent.parent / "support" / "groups" / "churn_member.py"
SETTINGS = {
    "group.min.session.timeout.ms": 1_000,
    "group.consumer.session.timeout.ms": 2_000,
    "group.consumer.heartbeat.interval.ms": 300,
}


class Removals(logging.Handler):
    """When the coordinator gave up which member, out of the broker's log.

    A member of the new protocol keeps its id when it joins again, so it may be there twice.
    """

    TEXT = re.compile(r"member (\S+) is removed, its [a-z ]+ timer has fired")

    def __init__(self):
        super().__init__(logging.INFO)
        self.seen = []
        self._logger = logging.getLogger("barnabas.groups")

    def __enter__(self):
        self._level = self._logger.level
        self._logger.setLevel(logging.INFO)
        self._logger.addHandler(self)
        return self

    def __exit__(self, *_):
        self._logger.removeHandler(self)
        self._logger.setLevel(self._level)

    def emit(self, record):
        found = self.TEXT.search(record.getMessage())
        if found:
            self.seen.append((found[1], time.monotonic()))

    def between(self, member_id, start, end):
        return any(name == member_id and start < at < end for name, at in self.seen)


class Ownership(NamedTuple):
    """The time from the assignment of a partition to its revocation or the end of the member."""

    partition: int
    start: float
    end: float
    generation: int
    member_id: str


class Member:
    def __init__(self, broker, protocol, log_path):
        self.log_path = log_path
        self.killed_at = self.gone_at = None
        command = [sys.executable, SCRIPT, broker.bootstrap_servers, "g", "t", protocol, log_path]
        self.process = subprocess.Popen(command)

    def kill(self):
        self.process.kill()
        self.process.wait(60)
        self.killed_at = self.gone_at = time.monotonic()

    def leave(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(30)
        self.gone_at = time.monotonic()

    def events(self):
        if not self.log_path.exists():
            return []
        lines = self.log_path.read_text().splitlines()
        # A killed process may leave half a line.
        return [json.loads(line) for line in lines if line.endswith("}")]

    def ownerships(self):
        """Every partition it owned, and its reads outside of that."""
        open_, done, stray = {}, [], []
        for event in self.events():
            match event:
                case {"event": "assigned", "t": start, "generation": generation, "member": name}:
                    for partition in event["partitions"]:
                        open_[partition] = (partition, start, generation, name)
                case {"event": "revoked" | "lost", "t": end, "partitions": partitions}:
                    done += [(open_.pop(one), end) for one in partitions if one in open_]
                case {"event": "read", "partition": partition}:
                    stray += [event] if partition not in open_ else []
        done += [(begun, self.gone_at) for begun in open_.values()]
        return [Ownership(p, start, end, g, m) for (p, start, g, m), end in done], stray


class Churn:
    def __init__(self, broker, protocol, directory, seed):
        self.broker, self.protocol, self.directory = broker, protocol, directory
        self.random = random.Random(seed)
        self.running, self.gone = [], []
        self.sent = 0
        self._done = threading.Event()
        self._pause = threading.Event()

    def spawn(self):
        number = len(self.running) + len(self.gone)
        log_path = self.directory / f"member-{number}.jsonl"
        self.running.append(Member(self.broker, self.protocol, log_path))

    def remove(self, *, kill):
        member = self.running.pop(self.random.randrange(len(self.running)))
        member.kill() if kill else member.leave()
        self.gone.append(member)

    def hang(self):
        """Stop a member for longer than its session: it still uses the lost partitions."""
        member = self.running[0]
        member.process.send_signal(signal.SIGSTOP)
        threading.Timer(HANG_SECONDS, member.process.send_signal, [signal.SIGCONT]).start()

    def produce(self):
        producer = Producer({"bootstrap.servers": self.broker.bootstrap_servers})
        while not self._done.wait(0.02):
            for _ in range(5):
                producer.produce("t", b"x", partition=self.sent % PARTITIONS)
                self.sent += 1
        assert producer.flush(20) == 0

    def run(self):
        load = threading.Thread(target=self.produce)
        load.start()
        start = time.monotonic()
        hangs = [start + SECONDS * share for share in (0.3, 0.6)]
        turns = itertools.count()
        while next(turns) < TURNS or time.monotonic() < start + SECONDS:
            if hangs and time.monotonic() > hangs[0]:
                hangs.pop(0)
                self.hang()
            if len(self.running) > 2 and self.random.random() < 0.4:
                self.remove(kill=self.random.random() < 0.5)
            elif len(self.running) < MEMBERS:
                self.spawn()
            self._done.wait(self.random.uniform(0.3, 1.2))
        self._done.set()
        load.join()

    def finish(self):
        """Wait until everything is committed, then send everybody home."""
        deadline = time.monotonic() + 60
        while self.uncommitted() and time.monotonic() < deadline:
            self._pause.wait(0.3)
        left = self.uncommitted()
        last_events = {member.log_path.stem: member.events()[-4:] for member in self.running}
        while self.running:
            self.remove(kill=False)
        assert not left, f"not committed (offset, end) by partition: {left}; {last_events}"

    def uncommitted(self):
        """Committed offset and end of every partition where the two differ."""
        reader = Consumer({"bootstrap.servers": self.broker.bootstrap_servers, "group.id": "g"})
        try:
            wanted = [TopicPartition("t", n) for n in range(PARTITIONS)]
            found = {one.partition: max(one.offset, 0) for one in reader.committed(wanted, 20)}
        finally:
            reader.close()
        ends = {n: len(range(n, self.sent, PARTITIONS)) for n in range(PARTITIONS)}
        return {n: (found[n], ends[n]) for n in ends if found[n] != ends[n]}


def check_single_ownership(members):
    """By generation: a member that was expelled may believe in its own a little longer."""
    owners = {}
    for member in members:
        for event in member.events():
            for partition in event["partitions"] if event["event"] == "assigned" else ():
                key = (event["generation"], partition)
                assert owners.setdefault(key, member) is member, f"two owners of {key}"
    generations = len({generation for generation, _ in owners})
    assert generations > 3, "there was little to check"
    return generations


def check_no_overlap(members, removals):
    """No member owns a partition of another member, unless the group removed that one first."""
    found = [member.ownerships() for member in members]
    assert [stray for _, stray in found if stray] == [], "read without owning"
    ordered = sorted(one for owned, _ in found for one in owned)
    excused = 0
    for earlier, later in itertools.pairwise(ordered):
        if earlier.partition == later.partition and later.start < earlier.end:
            given_up = removals.between(earlier.member_id, earlier.start, later.start)
            assert given_up, f"{later} while {earlier}"
            assert earlier.generation < later.generation
            excused += 1
    return len(ordered), excused


def check_all_read(members, sent):
    read = {
        (event["partition"], event["offset"])
        for member in members
        for event in member.events()
        if event["event"] == "read"
    }
    missing = {(n % PARTITIONS, n // PARTITIONS) for n in range(sent)} - read
    assert not missing


def check_commits_go_forward(members):
    for member in members:
        latest = {}
        for event in member.events():
            if event["event"] == "assigned":
                latest = {}
            if event["event"] == "committed":
                partition = event["partition"]
                assert event["offset"] >= latest.get(partition, 0)
                latest[partition] = event["offset"]


@pytest.mark.parametrize("protocol", ["classic", "consumer"])
def test_members_churn_under_load(tmp_path, protocol):
    with Broker(SETTINGS) as broker, Removals() as removals:
        create_topic(broker, "t", PARTITIONS)
        churn = Churn(broker, protocol, tmp_path, seed=7)
        try:
            churn.run()
            churn.finish()
        finally:
            for member in churn.running:
                member.kill()
    members = churn.gone
    assert sum(member.killed_at is not None for member in members) >= 2
    check_all_read(members, churn.sent)
    generations = check_single_ownership(members)
    check_commits_go_forward(members)
    ownerships, excused = check_no_overlap(members, removals)
    print(
        f"{protocol}: {churn.sent} records, {len(members)} members, {generations} generations, "
        f"{len(removals.seen)} given up, "
        f"{ownerships} ownerships, {excused} taken over from members given up alive"
    )
    assert removals.seen, "no killed member was given up"
