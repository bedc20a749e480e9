"""The streaming source driven by hand, in the order Spark calls it, without a JVM.

Offsets go through JSON text between the calls, as they go through a checkpoint.
"""

import json
import threading

from barnabas.spark.source.options import SourceOptions
from barnabas.spark.source.schema import source_schema
from barnabas.spark.source.stream_reader import StreamReader


class DrivenQuery:
    """One query; `restart` is a new run on the same checkpoint."""

    def __init__(self, servers, topic, **options):
        given = {"startingOffsets": "earliest", "commitOffsets": "false", **options}
        self._texts = {"kafka.bootstrap.servers": servers, "subscribe": topic, **given}
        self.rows = []
        self.start = None
        self._reader = self._make()

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self._reader.stop()

    def restart(self, **options):
        self._reader.stop()
        self._texts.update(options)
        self._reader = self._make()

    def step(self):
        """One micro-batch: its rows, which are also added to `rows`."""
        if self.start is None:
            self.start = json.dumps(self._reader.initialOffset())
        limit = self._reader.getDefaultReadLimit()
        end = json.dumps(self._reader.latestOffset(json.loads(self.start), limit))
        found = self.read(self.start, end)
        self.start = end
        self.rows.extend(found)
        return found

    def read(self, start, end):
        tasks = self._reader.partitions(json.loads(start), json.loads(end))
        return [
            row for task in tasks for batch in self._reader.read(task) for row in batch.to_pylist()
        ]

    def until(self, count, seconds=60):
        """Steps until there are so many rows in all."""
        pause = threading.Event()
        for _ in range(int(seconds / 0.05)):
            self.step()
            if len(self.rows) >= count:
                return self.rows
            pause.wait(0.05)
        raise AssertionError(f"{len(self.rows)} of {count} rows came")

    def _make(self):
        options = SourceOptions.parse(self._texts, streaming=True)
        return StreamReader(options, source_schema(options.include_headers))


def seen(rows):
    """Returns the same records from a plain consumer."""
    return sorted(
        (row["topic"], row["partition"], row["offset"], row["key"], row["value"]) for row in rows
    )


def plain(server, topic, **kwargs):
    return sorted(
        (r.topic, r.partition, r.offset, r.key, r.value) for r in server.records(topic, **kwargs)
    )
