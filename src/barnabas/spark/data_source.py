"""`format("barnabas")`: the data source from which Spark gets readers and writers.

Options are checked as soon as Spark passes them, so that a wrong one fails at `load()` and not in
the middle of a job. Spark does each step in another process: a reader, a writer and the clients are
imported only where they are needed.

Tables in Spark's catalog (`CREATE TABLE t USING barnabas OPTIONS (...)`): Spark passes the
properties of a table to a Python data source only once, when the table is created without declared
columns. Later reads and inserts get the stored schema but no options. The source therefore stores
the table's options in the metadata of the schema's last column. Column metadata is copied with the
rows, for example into Parquet files, so passwords are rejected.
"""

import json
from collections.abc import Mapping, MutableMapping

from pyspark.sql.datasource import (
    DataSource,
    DataSourceReader,
    DataSourceStreamReader,
    DataSourceStreamWriter,
    DataSourceWriter,
)
from pyspark.sql.types import DataType, StructField, StructType

from barnabas.model.config import ConfigTable
from barnabas.model.config_keys.client import CLIENT_KEYS
from barnabas.model.errors import ConfigError
from barnabas.spark import sink, source
from barnabas.spark.options import (
    FORMAT,
    KAFKA_PREFIX,
    SERVERS,
    SPARK_TABLE_PROPERTIES,
    OptionTexts,
)
from barnabas.spark.sink.options import SINK_OPTIONS, SinkOptions
from barnabas.spark.source.options import SOURCE_OPTIONS, STRATEGIES, SourceOptions
from barnabas.spark.source.schema import decoded_types, source_schema

SERVERS_OPTION = KAFKA_PREFIX + SERVERS
PROVIDER = "provider"
OPTION_PREFIX = "option."
METADATA_KEY = "barnabas.options"
NO_OPTIONS = (
    "no options have reached the source. Spark does not pass the OPTIONS of a table with declared "
    "columns to a Python data source. Leave out the columns (CREATE TABLE t USING barnabas OPTIONS "
    "(...)), create a view (CREATE TEMPORARY VIEW v USING barnabas OPTIONS (...)), or give the "
    "options in the query (SELECT * FROM t WITH (`kafka.bootstrap.servers` = '...', ...))"
)


class BarnabasDataSource(DataSource):
    """Topics as a source and a sink; Spark creates one per use, in short-lived processes."""

    def __init__(self, options: MutableMapping[str, str]) -> None:
        super().__init__(options)
        self._creates_table = is_table_creation(options)
        self._texts = declared_options(options) if self._creates_table else dict(options)

    @classmethod
    def name(cls) -> str:
        return FORMAT

    def schema(self) -> StructType:
        if self._creates_table:
            return self._table_schema()
        options = self._checked(self._texts)
        return source_schema(options.include_headers, decoded_types(options))

    def reader(self, schema: StructType) -> DataSourceReader:
        options = SourceOptions.parse(self._source_texts(schema), streaming=False)
        kind = source.FilteringBatchReader if options.push_filters else source.BatchReader
        return kind(options, schema)

    def streamReader(self, schema: StructType) -> DataSourceStreamReader:
        # Start-up time: each of Spark's processes imports only what it needs.
        from barnabas.spark.source.stream_reader import stream_reader

        return stream_reader(
            SourceOptions.parse(self._source_texts(schema), streaming=True), schema
        )

    def writer(self, schema: StructType, overwrite: bool) -> DataSourceWriter:
        if overwrite:
            raise ConfigError("a topic cannot be overwritten: use mode('append')")
        texts = self._sink_texts(schema)
        return sink.BatchWriter(SinkOptions.parse(texts, streaming=False), schema)

    def streamWriter(self, schema: StructType, overwrite: bool) -> DataSourceStreamWriter:
        options = SinkOptions.parse(self._sink_texts(schema), streaming=True)
        return sink.StreamWriter(options, schema)

    def _table_schema(self) -> StructType:
        """Returns the schema of a table in Spark's catalog: it reads topics, writes to one, or
        both.
        """
        own = OptionTexts(self._texts)
        types: Mapping[str, DataType] = {}
        if own.has("topic"):
            SinkOptions.parse(sink_part(self._texts), streaming=False)
        if not own.has("topic") or any(own.has(name) for name in STRATEGIES):
            types = decoded_types(self._checked(source_part(self._texts)))
        return with_options(source_schema(own.flag("includeHeaders", False), types), self._texts)

    def _source_texts(self, schema: StructType) -> dict[str, str]:
        own = OptionTexts(self._texts)
        complete = own.has(SERVERS_OPTION) and any(own.has(name) for name in STRATEGIES)
        return self._texts if complete else source_part(self._table_texts(schema))

    def _sink_texts(self, schema: StructType) -> dict[str, str]:
        # Rows that were read from a table and are written elsewhere still have its metadata.
        own = OptionTexts(self._texts)
        return self._texts if own.has(SERVERS_OPTION) else sink_part(self._table_texts(schema))

    def _table_texts(self, schema: StructType) -> dict[str, str]:
        """Returns the options of the table that the schema belongs to, with those of the query."""
        stored = stored_options(schema)
        if not stored:
            if not self._texts:
                raise ConfigError(NO_OPTIONS)
            return self._texts
        return merged(stored, self._texts)

    def _checked(self, texts: dict[str, str]) -> SourceOptions:
        """Returns the options if they are valid for a batch or for a stream: Spark does not say
        which yet.
        """
        try:
            return SourceOptions.parse(texts, streaming=False)
        except ConfigError:
            try:
                return SourceOptions.parse(texts, streaming=True)
            except ConfigError:
                pass
            raise


def is_table_creation(given: Mapping[str, str]) -> bool:
    """Returns whether these are the properties of a table that Spark is about to create."""
    return PROVIDER in {name.lower() for name in given}


def declared_options(properties: Mapping[str, str]) -> dict[str, str]:
    """Returns the options among a table's properties: the OPTIONS clause, or else TBLPROPERTIES.

    Spark repeats each of OPTIONS with the prefix `option.` and adds properties of its own.
    """
    options = {
        name[len(OPTION_PREFIX) :]: text
        for name, text in properties.items()
        if name.lower().startswith(OPTION_PREFIX)
    }
    return options or {
        name: text
        for name, text in properties.items()
        if name.lower() not in SPARK_TABLE_PROPERTIES
    }


def source_part(options: Mapping[str, str]) -> dict[str, str]:
    """Returns a table's options without those that only the sink reads."""
    return _without(options, SINK_OPTIONS, SOURCE_OPTIONS)


def sink_part(options: Mapping[str, str]) -> dict[str, str]:
    """Returns a table's options without those that only the source reads."""
    return _without(options, SOURCE_OPTIONS, SINK_OPTIONS)


def with_options(schema: StructType, options: Mapping[str, str]) -> StructType:
    """Returns the schema with a table's options in the metadata of its last column."""
    secrets = ConfigTable(CLIENT_KEYS)
    for name in options:
        key = name.lower().removeprefix(KAFKA_PREFIX)
        if key in secrets and secrets[key].sensitive:
            raise ConfigError(
                f"option {name!r}: a table of the catalog cannot have a password, because its "
                "options are stored with the schema. Use CREATE TEMPORARY VIEW, or give the option "
                f"in the query: SELECT * FROM t WITH (`{name}` = '...')"
            )
    *fields, last = schema.fields
    metadata = {**(last.metadata or {}), METADATA_KEY: json.dumps(_lower(options), sort_keys=True)}
    kept = StructField(last.name, last.dataType, last.nullable, metadata)
    return StructType([*fields, kept])


def stored_options(schema: StructType) -> dict[str, str]:
    """Returns the options that `with_options` put into a schema; none for other schemas."""
    for field in reversed(schema.fields):
        text = (field.metadata or {}).get(METADATA_KEY)
        if text is not None:
            found: dict[str, str] = json.loads(text)
            return found
    return {}


def merged(stored: Mapping[str, str], given: Mapping[str, str]) -> dict[str, str]:
    """Returns a table's options, overridden by those of a query (`SELECT * FROM t WITH (...)`)."""
    return {**_lower(stored), **_lower(given)}


def _lower(options: Mapping[str, str]) -> dict[str, str]:
    return {name.lower(): text for name, text in options.items()}


def _without(
    options: Mapping[str, str], left_out: tuple[str, ...], kept: tuple[str, ...]
) -> dict[str, str]:
    names = {name.lower() for name in left_out} - {name.lower() for name in kept}
    return {name: text for name, text in options.items() if name.lower() not in names}
