"""State that Spark has no streaming operator for: tables as they were after each micro-batch.

The state is next to a query's checkpoint, on the same file system. A table is a base and the deltas
after it, each a directory of Parquet files named after the micro-batch that wrote it. From time to
time the deltas are merged into a new base, so a micro-batch costs in proportion to its changes, not
to the table. A manifest per micro-batch, written last, lists the directories of its state:

    manifests/<batch>.json    {"tables": {"left": [["base-7", 1000], ["delta-9", 12]]}, "facts": {}}
    left/base-7/*.parquet

A micro-batch starts from the newest manifest *before* its own number. A replayed micro-batch
therefore sees the state of the first attempt and writes the same directories again: with
deterministic rows and an exactly-once sink, its results and its changes exist once.
"""

import json
import uuid
from dataclasses import dataclass, field
from typing import Any

from pyspark.sql import DataFrame, Observation, SparkSession
from pyspark.sql import functions as sf
from pyspark.sql.types import StructType

from barnabas.streams.stages import LostStateError

MANIFESTS = "manifests"
# Each delta is one more file to read per micro-batch; beyond this they are merged.
MAX_DELTAS = 8
SMALL_ROWS = 100_000
# Spark may repeat the last micro-batch after a failure: it needs the state before it.
KEPT_MANIFESTS = 2


@dataclass(frozen=True, slots=True)
class Part:
    """A directory of rows."""

    name: str
    rows: int


@dataclass(frozen=True, slots=True)
class Version:
    """The state after a micro-batch; -1 before the first."""

    batch_id: int = -1
    tables: dict[str, tuple[Part, ...]] = field(default_factory=dict)
    facts: dict[str, Any] = field(default_factory=dict)

    def rows(self, table: str) -> int:
        """Returns the approximate number of rows; a changed row counts twice until the deltas are
        merged.
        """
        return sum(part.rows for part in self.tables.get(table, ()))

    def render(self) -> str:
        tables = {name: [[p.name, p.rows] for p in parts] for name, parts in self.tables.items()}
        return json.dumps({"tables": tables, "facts": self.facts}, sort_keys=True)

    @classmethod
    def parse(cls, batch_id: int, text: str) -> "Version":
        found = json.loads(text)
        tables = {
            name: tuple(Part(*part) for part in parts) for name, parts in found["tables"].items()
        }
        return cls(batch_id, tables, found["facts"])


class Folder:
    """Small files in a directory of any Hadoop file system."""

    def __init__(self, spark: SparkSession, path: str) -> None:
        jvm: Any = spark._jvm  # noqa: SLF001 - Hadoop's file systems have no Python API
        java: Any = spark._jsparkSession  # noqa: SLF001
        self._jvm = jvm
        self._path = jvm.org.apache.hadoop.fs.Path
        self._root = path.rstrip("/")
        conf = java.sessionState().newHadoopConf()
        self._fs = self._path(self._root).getFileSystem(conf)

    def at(self, name: str) -> str:
        return f"{self._root}/{name}"

    def names(self, name: str) -> list[str]:
        path = self._path(self.at(name))
        if not self._fs.exists(path):
            return []
        return [status.getPath().getName() for status in self._fs.listStatus(path)]

    def read(self, name: str) -> str:
        stream = self._fs.open(self._path(self.at(name)))
        try:
            return str(self._jvm.org.apache.commons.io.IOUtils.toString(stream, "UTF-8"))
        finally:
            stream.close()

    def write(self, name: str, text: str) -> None:
        """Replaces a file: a reader sees the old or the complete new text."""
        target = self._path(self.at(name))
        draft = self._path(self.at(f".{uuid.uuid4().hex}"))
        stream = self._fs.create(draft, True)
        try:
            stream.write(bytearray(text.encode()))
        finally:
            stream.close()
        # Hadoop's rename does not replace an existing file. Between the two calls the manifest is
        # missing; that is harmless, because the same micro-batch would be run again.
        self._fs.delete(target, False)
        self._fs.mkdirs(target.getParent())
        if not self._fs.rename(draft, target):
            raise OSError(f"cannot write {target}")

    def delete(self, name: str) -> None:
        self._fs.delete(self._path(self.at(name)), True)


class StateStore:
    """The tables of one query; used by one micro-batch at a time."""

    def __init__(self, spark: SparkSession, path: str) -> None:
        self._spark = spark
        self._folder = Folder(spark, path)
        self._frames: dict[str, DataFrame] = {}

    def begin(self, batch_id: int) -> "BatchState":
        """Returns the state for a micro-batch; LostStateError if that of the earlier micro-batches
        is gone.
        """
        # A manifest with this number or a later one belongs to an attempt whose micro-batch Spark
        # has not committed. It is ignored and overwritten.
        earlier = [number for number in self._manifests() if number < batch_id]
        # Without this check the query would continue with empty tables and write wrong results
        # without an error.
        if not earlier and batch_id > 0:
            raise LostStateError(
                f"the checkpoint is at micro-batch {batch_id}, but {self._folder.at(MANIFESTS)} "
                "has no state of an earlier one: restore the directory from a copy, or delete the "
                "query's checkpoint too and run with lost_state='rebuild'"
            )
        if not earlier:
            return BatchState(self, batch_id, Version())
        text = self._folder.read(f"{MANIFESTS}/{max(earlier)}.json")
        return BatchState(self, batch_id, Version.parse(max(earlier), text))

    def frame(self, table: str, part: Part, schema: StructType) -> DataFrame:
        """Returns the rows of a directory, cached in memory after the first read."""
        name = f"{table}/{part.name}"
        if name not in self._frames:
            reader = self._spark.read.schema(schema)
            self._frames[name] = reader.parquet(self._folder.at(name)).persist()
        return self._frames[name]

    def write_part(self, table: str, name: str, frame: DataFrame) -> Part:
        relative_path = f"{table}/{name}"
        # A failed attempt of the same micro-batch may have written and cached this directory. Its
        # files are replaced now, and the cache must not be read instead of them.
        old = self._frames.pop(relative_path, None)
        if old is not None:
            old.unpersist()
        seen = Observation(f"rows-{uuid.uuid4().hex}")
        # Counts while the rows are written; count() would compute the frame a second time.
        counted = frame.observe(seen, sf.count(sf.lit(1)).alias("rows"))
        counted.write.mode("overwrite").parquet(self._folder.at(relative_path))
        return Part(name, int(seen.get["rows"]))

    def commit(self, version: Version) -> None:
        self._folder.write(f"{MANIFESTS}/{version.batch_id}.json", version.render())
        self._drop_old(version)

    def close(self) -> None:
        for frame in self._frames.values():
            frame.unpersist()
        self._frames.clear()

    def _manifests(self) -> list[int]:
        names = self._folder.names(MANIFESTS)
        return sorted(int(name[:-5]) for name in names if name.endswith(".json"))

    def _drop_old(self, version: Version) -> None:
        """Deletes the manifests and directories that no needed manifest refers to."""
        numbers = [number for number in self._manifests() if number <= version.batch_id]
        kept = numbers[-KEPT_MANIFESTS:]
        for number in numbers[:-KEPT_MANIFESTS]:
            self._folder.delete(f"{MANIFESTS}/{number}.json")
        needed = set()
        for number in kept:
            text = self._folder.read(f"{MANIFESTS}/{number}.json")
            for table, parts in Version.parse(number, text).tables.items():
                needed |= {f"{table}/{part.name}" for part in parts}
        for table in version.tables:
            for name in self._folder.names(table):
                relative_path = f"{table}/{name}"
                if relative_path not in needed:
                    frame = self._frames.pop(relative_path, None)
                    if frame is not None:
                        frame.unpersist()
                    self._folder.delete(relative_path)


class BatchState:
    """The state during one micro-batch: the tables before it, and its changes."""

    def __init__(self, store: StateStore, batch_id: int, before: Version) -> None:
        self.batch_id = batch_id
        self.before = before
        self.facts: dict[str, Any] = dict(before.facts)
        self._store = store
        self._tables = dict(before.tables)
        self._changed: dict[str, int] = {}
        self._held: list[DataFrame] = []

    def rows(self, table: str, schema: StructType) -> DataFrame:
        """Returns a table as it was before this micro-batch: rows by `_key`, without deleted
        ones."""
        return self._folded(table, self.before.tables.get(table, ()), schema)

    def update(self, table: str, changes: DataFrame) -> DataFrame:
        """Applies changes, at most one per key (tombstones delete); returns the table after
        them."""
        schema = changes.schema
        parts = self.before.tables.get(table, ())
        delta = self._store.write_part(table, f"delta-{self.batch_id}", changes)
        self._changed[table] = delta.rows
        # An empty delta would be one more file to read for every later micro-batch.
        if delta.rows == 0:
            return self._folded(table, parts, schema)
        grown = (*parts, delta)
        after = self._folded(table, grown, schema)
        if _is_due(grown):
            base = self._store.write_part(table, f"base-{self.batch_id}", after)
            grown = (base,)
            after = self._folded(table, grown, schema)
        self._tables[table] = grown
        return after

    def changed(self, table: str) -> int:
        """Returns the number of rows that this micro-batch has changed."""
        return self._changed.get(table, 0)

    def replace(self, table: str, rows: DataFrame) -> DataFrame:
        """Replaces all rows of a table."""
        parts = (self._store.write_part(table, f"base-{self.batch_id}", rows),)
        self._tables[table] = parts
        return self._union(table, parts, rows.schema)

    def hold(self, frame: DataFrame) -> DataFrame:
        """Caches a frame until the end of the micro-batch."""
        self._held.append(frame.persist())
        return frame

    def release(self) -> None:
        for frame in self._held:
            frame.unpersist()
        self._held.clear()

    def commit(self) -> None:
        self._store.commit(Version(self.batch_id, self._tables, self.facts))

    def _union(self, table: str, parts: tuple[Part, ...], schema: StructType) -> DataFrame:
        if not parts:
            return self._store._spark.createDataFrame([], schema)  # noqa: SLF001
        frames = [self._store.frame(table, part, schema) for part in parts]
        whole = frames[0]
        for frame in frames[1:]:
            whole = whole.union(frame)
        return whole

    def _folded(self, table: str, parts: tuple[Part, ...], schema: StructType) -> DataFrame:
        if len(parts) < 2:
            return self._union(table, parts, schema).where(~sf.col("_tombstone"))
        base = self._store.frame(table, parts[0], schema)
        newest = self._newest(table, parts[1:], schema)
        keys = newest.select("_key")
        # A broadcast avoids shuffling the base, which is usually much larger than the changes.
        # Spark cannot know this: it has no statistics of the deltas.
        if sum(part.rows for part in parts[1:]) <= SMALL_ROWS:
            keys = sf.broadcast(keys)
        return base.join(keys, "_key", "left_anti").union(newest).where(~sf.col("_tombstone"))

    def _newest(self, table: str, parts: tuple[Part, ...], schema: StructType) -> DataFrame:
        if len(parts) == 1:
            return self._store.frame(table, parts[0], schema)
        names = [sf.col(f"`{name}`") for name in schema.fieldNames()]
        whole: DataFrame | None = None
        for number, part in enumerate(parts):
            frame = self._store.frame(table, part, schema).select(
                sf.col("_key"), sf.lit(number).alias("_age"), sf.struct(*names).alias("_row")
            )
            whole = frame if whole is None else whole.union(frame)
        assert whole is not None
        latest = whole.groupBy("_key").agg(sf.max_by("_row", "_age").alias("_row"))
        return latest.select("_row.*")


def _is_due(parts: tuple[Part, ...]) -> bool:
    changed = sum(part.rows for part in parts[1:])
    return len(parts) > MAX_DELTAS or changed > max(SMALL_ROWS, parts[0].rows)
