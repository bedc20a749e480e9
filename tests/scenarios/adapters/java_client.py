"""Java's clients and tools: one JVM that runs java/ScenarioClient.java, driven by JSON lines."""

import base64
import itertools
import json
import os
import shutil
import subprocess
import tempfile
import threading
from collections.abc import Mapping
from concurrent.futures import Future
from functools import partial
from pathlib import Path
from typing import Any

from scenarios.adapter import (
    Admin,
    Client,
    Consumer,
    Producer,
    Rec,
    Sent,
    ToolResult,
    TopicPartition,
    protocol_error,
)

PROGRAM = Path(__file__).parent.parent / "java" / "ScenarioClient.java"
CALL_SECONDS = 90.0
ASSIGNORS = {"cooperative-sticky": "CooperativeStickyAssignor", "range": "RangeAssignor"}
PARTITIONERS = {"round_robin": "org.apache.kafka.clients.producer.RoundRobinPartitioner"}
TOOLS = {
    "kafka-topics": "org.apache.kafka.tools.TopicCommand",
    "kafka-configs": "kafka.admin.ConfigCommand",
    "kafka-consumer-groups": "org.apache.kafka.tools.consumer.group.ConsumerGroupCommand",
    "kafka-console-consumer": "org.apache.kafka.tools.consumer.ConsoleConsumer",
    "kafka-console-producer": "org.apache.kafka.tools.ConsoleProducer",
    "kafka-get-offsets": "org.apache.kafka.tools.GetOffsetShell",
    "kafka-delete-records": "org.apache.kafka.tools.DeleteRecordsCommand",
}
_NAMES = {
    "CommitFailedException": "COMMIT_FAILED",
    "NoOffsetForPartitionException": "NO_OFFSET",
    "OffsetOutOfRangeException": "OFFSET_OUT_OF_RANGE",
    "ConfigException": "CONFIG",
    "IllegalStateException": "MISUSE",
    "IllegalArgumentException": "MISUSE",
    "TimeoutException": "TIMEOUT",
    "RecordTooLargeException": "MESSAGE_TOO_LARGE",
}


class JavaError(Exception):
    def __init__(self, kind: str, code: int, text: str) -> None:
        super().__init__(f"{kind}: {text}")
        self.kind = kind
        self.code = code


class JavaClient(Client):
    name = "java"

    def __init__(self) -> None:
        java, javac = shutil.which("java"), shutil.which("javac")
        if java is None:
            raise RuntimeError("Java's clients need a Java to run")
        self._java = java
        self._jars = f"{os.environ['BARNABAS_KAFKA_JARS']}/*"
        self._numbers = itertools.count()
        self._waiting: dict[int, Future[Any]] = {}
        self._lock = threading.Lock()
        self._classes = tempfile.TemporaryDirectory(prefix="barnabas-scenarios-")
        run = [str(PROGRAM)]
        path = self._jars
        if javac is not None:
            subprocess.run(
                [javac, "-nowarn", "-cp", self._jars, "-d", self._classes.name, str(PROGRAM)],
                check=True,
                capture_output=True,
            )
            path, run = f"{self._classes.name}:{self._jars}", ["ScenarioClient"]
        self._process = subprocess.Popen(
            [java, "-Dorg.slf4j.simpleLogger.defaultLogLevel=off", "-cp", path, *run],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        self._reader = threading.Thread(target=self._read, name="scenarios-java", daemon=True)
        self._reader.start()

    def call(self, handle: str, op: str, **args: Any) -> Any:
        number = next(self._numbers)
        future: Future[Any] = Future()
        self._waiting[number] = future
        line = json.dumps({"id": number, "handle": handle, "op": op, "args": args})
        with self._lock:
            assert self._process.stdin is not None
            self._process.stdin.write(line + "\n")
            self._process.stdin.flush()
        return future.result(CALL_SECONDS)

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            if not line.startswith("{"):
                continue
            reply = json.loads(line)
            future = self._waiting.pop(reply["id"])
            if "error" in reply:
                error = JavaError(reply["error"], reply["code"], reply["text"])
                future.set_exception(error)
            else:
                future.set_result(reply["result"])

    def make(self, kind: str, servers: str, config: Mapping[str, Any]) -> str:
        handle = f"{kind}-{next(self._numbers)}"
        settings = {"bootstrap.servers": servers, **config}
        chosen = {key: _text(value) for key, value in settings.items()}
        self.call(handle, "new", kind=kind, config=chosen)
        return handle

    def producer(self, servers: str, config: Mapping[str, Any]) -> Producer:
        settings = dict(config)
        if "partitioner.class" in settings:
            settings["partitioner.class"] = PARTITIONERS[settings["partitioner.class"]]
        return _Producer(self, self.make("producer", servers, settings))

    def consumer(self, servers: str, config: Mapping[str, Any]) -> Consumer:
        settings = dict(config)
        if "partition.assignment.strategy" in settings:
            name = ASSIGNORS[settings["partition.assignment.strategy"]]
            settings["partition.assignment.strategy"] = f"org.apache.kafka.clients.consumer.{name}"
        return _Consumer(self, self.make("consumer", servers, settings))

    def admin(self, servers: str) -> Admin:
        return _Admin(self, self.make("admin", servers, {}))

    def error_name(self, error: BaseException) -> str:
        if not isinstance(error, JavaError):
            return type(error).__name__
        if error.kind in _NAMES:
            return _NAMES[error.kind]
        return protocol_error(error.code) if error.code > 0 else error.kind

    def tool(self, servers: str, name: str, *args: str, text: str = "") -> ToolResult:
        command = [self._java, "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn", "-cp", self._jars]
        place = ["--bootstrap-server", servers] if servers else []
        done = subprocess.run(
            [*command, TOOLS[name], *place, *args],
            input=text,
            capture_output=True,
            text=True,
            timeout=CALL_SECONDS,
        )
        return ToolResult(done.returncode, done.stdout, done.stderr)

    def close(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(30)
        self._reader.join()
        self._classes.cleanup()


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _encode(value: bytes | None) -> str | None:
    return None if value is None else base64.b64encode(value).decode()


def _decode(value: str | None) -> bytes | None:
    return None if value is None else base64.b64decode(value)


def _triples(offsets: Mapping[TopicPartition, int]) -> list[tuple[str, int, int]]:
    return [(*place, offset) for place, offset in offsets.items()]


class _Handle:
    def __init__(self, client: JavaClient, handle: str) -> None:
        self._client = client
        self.handle = handle

    def _call(self, op: str, **args: Any) -> Any:
        return self._client.call(self.handle, op, **args)


class _Producer(_Handle, Producer):
    _deliveries = itertools.count()

    def send(self, topic, value=None, key=None, *, partition=None, headers=(), timestamp=None):
        number = str(next(self._deliveries))
        self._call(
            "send",
            delivery=number,
            topic=topic,
            value=_encode(value),
            key=_encode(key),
            partition=partition,
            headers=[(name, _encode(given)) for name, given in headers],
            timestamp=timestamp,
        )
        return partial(self._delivered, number)

    def _delivered(self, number: str, timeout: float) -> Sent:
        return Sent(*self._call("delivered", delivery=number, timeout=timeout))

    def flush(self, timeout: float = 30.0) -> None:
        self._call("flush")

    def close(self) -> None:
        self._call("close")

    def partitions_for(self, topic: str) -> list[int]:
        return self._call("partitions_for", topic=topic)

    def init_transactions(self) -> None:
        self._call("init")

    def begin(self) -> None:
        self._call("begin")

    def commit(self) -> None:
        self._call("commit")

    def abort(self) -> None:
        self._call("abort")

    def send_offsets(self, offsets: Mapping[TopicPartition, int], consumer: Any) -> None:
        self._call("send_offsets", offsets=_triples(offsets), consumer=consumer.handle)


class _Consumer(_Handle, Consumer):
    _events: list[Any] | None = None

    def subscribe(self, topics: list[str], events: list[Any] | None = None) -> None:
        self._events = events
        self._call("subscribe", topics=topics)

    def subscribe_pattern(self, pattern: str) -> None:
        self._call("subscribe_pattern", pattern=pattern)

    def unsubscribe(self) -> None:
        self._call("unsubscribe")

    def assign(self, partitions: list[TopicPartition]) -> None:
        self._call("assign", partitions=partitions)

    def assignment(self) -> list[TopicPartition]:
        return [(topic, number) for topic, number in self._call("assignment")]

    def poll(self, timeout: float, limit: int = 500) -> list[Rec]:
        return [_plain(*fields) for fields in self._call("poll", timeout=timeout)]

    def commit(self, offsets: Mapping[TopicPartition, int] | None = None) -> None:
        self._call("commit", offsets=None if offsets is None else _triples(offsets))

    def committed(self, partition: TopicPartition) -> int | None:
        return self._call("committed", partition=partition)

    def position(self, partition: TopicPartition) -> int:
        return self._call("position", partition=partition)

    def seek(self, partition: TopicPartition, offset: int) -> None:
        self._call("seek", partition=partition, offset=offset)

    def seek_to_beginning(self, partition: TopicPartition) -> None:
        self._call("seek_to_beginning", partition=partition)

    def seek_to_end(self, partition: TopicPartition) -> None:
        self._call("seek_to_end", partition=partition)

    def pause(self, partition: TopicPartition) -> None:
        self._call("pause", partition=partition)

    def resume(self, partition: TopicPartition) -> None:
        self._call("resume", partition=partition)

    def beginning_offset(self, partition: TopicPartition) -> int:
        return self._call("beginning_offset", partition=partition)

    def end_offset(self, partition: TopicPartition) -> int:
        return self._call("end_offset", partition=partition)

    def offset_for_time(self, partition: TopicPartition, timestamp: int) -> int | None:
        return self._call("offset_for_time", partition=partition, timestamp=timestamp)

    def close(self) -> None:
        self._call("close")
        if self._events is not None:
            self._events[:] = [(word, places) for word, places in self._call("events")]


def _plain(topic, partition, offset, key, value, headers, timestamp) -> Rec:
    pairs = tuple((name, _decode(given)) for name, given in headers)
    return Rec(topic, partition, offset, _decode(key), _decode(value), pairs, timestamp)


class _Admin(_Handle, Admin):
    def create_topic(self, name, partitions=1, configs=None):
        self._call("create_topic", name=name, partitions=partitions, configs=dict(configs or {}))

    def delete_topic(self, name: str) -> None:
        self._call("delete_topic", name=name)

    def create_partitions(self, name: str, total: int) -> None:
        self._call("create_partitions", name=name, total=total)

    def topics(self) -> set[str]:
        return set(self._call("topics"))

    def partitions(self, topic: str) -> list[int]:
        return self._call("partitions", name=topic)

    def topic_config(self, topic: str, name: str) -> str | None:
        return self._call("topic_config", name=topic, key=name)

    def alter_topic_config(self, topic: str, name: str, value: str) -> None:
        self._call("alter_topic_config", name=topic, key=name, value=value)

    def delete_records(self, partition: TopicPartition, before: int) -> int:
        return self._call("delete_records", partition=partition, before=before)

    def groups(self) -> set[str]:
        return set(self._call("groups"))

    def group(self, group: str) -> tuple[str, int]:
        state, members = self._call("group", name=group)
        return state, members

    def group_offsets(self, group: str) -> dict[TopicPartition, int]:
        found = self._call("group_offsets", name=group)
        return {(topic, number): offset for topic, number, offset in found}

    def alter_group_offsets(self, group: str, offsets: Mapping[TopicPartition, int]) -> None:
        self._call("alter_group_offsets", name=group, offsets=_triples(offsets))

    def delete_group(self, group: str) -> None:
        self._call("delete_group", name=group)

    def brokers(self) -> int:
        return self._call("brokers")

    def close(self) -> None:
        self._call("close")
