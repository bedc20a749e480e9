"""Value types of records: queries, decoded records, pages, search progress, records to produce."""

from typing import Annotated, Literal

from pydantic import Field

from barnabas.console.models.common import INT64_MAX, Model, Offset, PartitionIndex

Format = Literal["auto", "json", "text", "avro", "protobuf", "hex"]
FileFormat = Literal["jsonl", "csv", "parquet"]
Encoding = Literal["utf-8", "base64"]
Timestamp = Annotated[int, Field(ge=0, le=INT64_MAX)]
MAX_RECORDS = 500
MAX_TEXT = 1024 * 1024
PREVIEW_CHARS = 400
DETAIL_CHARS = 64 * 1024
MAX_PRODUCED = 500


class FormatQuery(Model):
    """How keys and values are decoded."""

    key_format: Format = "auto"
    value_format: Format = "auto"
    avro_schema: str | None = Field(
        default=None, max_length=50_000, description="the schema of values that name none, for avro"
    )


class BrowseQuery(FormatQuery):
    """The part of a topic to show. A cursor of an earlier page replaces the start."""

    start: Literal["newest", "oldest", "offset", "time"] = "newest"
    offset: Offset | None = Field(default=None, description="with start=offset; needs partition")
    time: Timestamp | None = Field(
        default=None, description="with start=time: milliseconds since 1970"
    )
    until: Timestamp | None = Field(
        default=None, description="milliseconds since 1970: the first time that is not shown"
    )
    partition: PartitionIndex | None = Field(
        default=None, description="one partition instead of all"
    )
    cursor: str = Field("", max_length=60_000, description="next or previous of an earlier page")
    limit: int = Field(50, ge=1, le=MAX_RECORDS)


class SearchQuery(FormatQuery):
    """A search: the condition, and the part of the topic to read."""

    kind: Literal["text", "regex", "jsonpath", "expression"] = "text"
    query: str = Field(min_length=1, max_length=2000)
    partition: PartitionIndex | None = None
    from_time: Timestamp | None = None
    to_time: Timestamp | None = None
    from_offset: Offset | None = None
    to_offset: Offset | None = Field(default=None, description="the first offset that is not read")
    limit: int = Field(100, ge=1, le=MAX_RECORDS, description="stop after this many matches")


class DownloadQuery(SearchQuery):
    """The records of a file; an empty query selects all. The limit does not apply."""

    query: str = Field(default="", max_length=2000)
    file_format: FileFormat = "jsonl"


class TailQuery(FormatQuery):
    partition: PartitionIndex | None = None


class RecordField(Model):
    """A key, a value or a header value. `text` is cut if `truncated`; `size` counts the bytes."""

    format: str
    text: str
    size: int | None = Field(description="bytes; None for a null value")
    truncated: bool = False
    schema_id: int | None = None
    problem: str | None = None


class RecordHeader(Model):
    name: str
    value: RecordField


class BatchBody(Model):
    """The batch that a record was written in; -1 for fields that old formats lack."""

    base_offset: int
    last_offset: int
    records: int
    size_bytes: int
    magic: int
    codec: str
    leader_epoch: int
    producer_id: int
    producer_epoch: int
    base_sequence: int
    transactional: bool
    max_timestamp: int


class RecordBody(Model):
    """One record. `control` is commit or abort for the marker that ends a transaction."""

    topic: str
    partition: int
    offset: int
    timestamp: int
    timestamp_type: Literal["CreateTime", "LogAppendTime"]
    key: RecordField
    value: RecordField
    headers: list[RecordHeader]
    size_bytes: int
    transaction: Literal["committed", "aborted", "open"] | None
    control: str | None
    problem: str | None
    batch: BatchBody


class RawField(Model):
    """Bytes as text; None and a null encoding stand for null."""

    text: str | None
    encoding: Encoding | None


class RawHeader(Model):
    name: str
    value: RawField


class RecordDetail(Model):
    """One record, with its exact bytes if they are not too large to edit."""

    record: RecordBody
    raw_key: RawField | None = None
    raw_value: RawField | None = None
    raw_headers: list[RawHeader] | None = None


class PartitionRange(Model):
    partition: int
    start: int
    end: int


class RecordPage(Model):
    """Records in order of time; the cursors are empty at the ends of the topic."""

    items: list[RecordBody]
    next: str
    previous: str
    partitions: list[PartitionRange]


class SearchProgress(Model):
    """One event of a search: new matches and how far it is."""

    matches: list[RecordBody]
    matched: int
    scanned: int
    total: int = Field(description="offsets to scan; compaction may have removed some")
    position: int = Field(description="offsets scanned, for a progress bar")
    scanned_bytes: int
    seconds: float
    not_evaluated: int = Field(0, description="records on which the query could not be evaluated")
    problem: str | None = Field(default=None, description="why the first of them could not")
    finished: bool = False


class TailEvent(Model):
    """New records of a live tail; `skipped` records were not sent because there were too many."""

    items: list[RecordBody]
    skipped: int = 0


class NewHeader(Model):
    name: str = Field(max_length=1000)
    value: str | None = Field(default=None, max_length=MAX_TEXT)
    encoding: Encoding = "utf-8"


class NewRecord(Model):
    """A record to produce; null key or value is None. Without a partition the key selects it."""

    key: str | None = Field(default=None, max_length=MAX_TEXT)
    key_encoding: Encoding = "utf-8"
    value: str | None = Field(default=None, max_length=4 * MAX_TEXT)
    value_encoding: Encoding = "utf-8"
    headers: list[NewHeader] = Field(default_factory=list, max_length=200)
    partition: PartitionIndex | None = None
    timestamp: Timestamp | None = None


class ProduceBody(Model):
    records: list[NewRecord] = Field(min_length=1, max_length=MAX_PRODUCED)


class ProducedRecord(Model):
    partition: int
    offset: int
    timestamp: int


class ProducedBody(Model):
    topic: str
    records: list[ProducedRecord]


class ImportedBody(Model):
    """The result of sending a file."""

    topic: str
    records: int
