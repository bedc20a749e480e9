"""`format("barnabas")`: the data source that Spark creates readers and writers with.

Options are checked as soon as Spark passes them, so that a wrong one fails at `load()` and not in
the middle of a job. Spark does each step in another process: a reader, a writer and the clients
behind them are imported only where they are needed.
"""

from collections.abc import Mapping, MutableMapping

from pyspark.sql.datasource import (
    DataSource,
    DataSourceReader,
    DataSourceStreamReader,
    DataSourceStreamWriter,
    DataSourceWriter,
)
from pyspark.sql.types import DataType, StructType

from barnabas.model.errors import ConfigError
from barnabas.spark import FORMAT
from barnabas.spark.catalog_tables import (
    NO_OPTIONS,
    declared_options,
    is_table_creation,
    merged,
    sink_part,
    source_part,
    stored_options,
    with_options,
)
from barnabas.spark.client_settings import KAFKA_PREFIX, SERVERS
from barnabas.spark.option_values import OptionTexts
from barnabas.spark.source.columns import source_schema
from barnabas.spark.source.options import STRATEGIES, SourceOptions

SERVERS_OPTION = KAFKA_PREFIX + SERVERS


class BarnabasDataSource(DataSource):
    """Topics as a source and a sink; Spark makes one per use, in short-lived processes."""

    def __init__(self, options: MutableMapping[str, str]) -> None:
        super().__init__(options)
        self._creates_table = is_table_creation(options)
        self._texts = declared_options(options) if self._creates_table else dict(options)

    @classmethod
    def name(cls) -> str:
        return FORMAT

    def schema(self) -> StructType:
        from barnabas.spark.source.inference import decoded_types

        if self._creates_table:
            return self._table_schema()
        options = self._checked(self._texts)
        return source_schema(options.include_headers, decoded_types(options))

    def reader(self, schema: StructType) -> DataSourceReader:
        from barnabas.spark.source.batch_reader import BatchReader, FilteringBatchReader

        options = SourceOptions.parse(self._source_texts(schema), streaming=False)
        kind = FilteringBatchReader if options.push_filters else BatchReader
        return kind(options, schema)

    def streamReader(self, schema: StructType) -> DataSourceStreamReader:
        from barnabas.spark.source.stream_reader import stream_reader

        return stream_reader(
            SourceOptions.parse(self._source_texts(schema), streaming=True), schema
        )

    def writer(self, schema: StructType, overwrite: bool) -> DataSourceWriter:
        from barnabas.spark.sink.options import SinkOptions
        from barnabas.spark.sink.writers import BatchWriter

        if overwrite:
            raise ConfigError("a topic cannot be overwritten: use mode('append')")
        texts = self._sink_texts(schema)
        return BatchWriter(SinkOptions.parse(texts, streaming=False), schema)

    def streamWriter(self, schema: StructType, overwrite: bool) -> DataSourceStreamWriter:
        from barnabas.spark.sink.options import SinkOptions
        from barnabas.spark.sink.writers import StreamWriter

        return StreamWriter(SinkOptions.parse(self._sink_texts(schema), streaming=True), schema)

    def _table_schema(self) -> StructType:
        """The schema of a table in Spark's catalog: it reads topics, writes to one, or both."""
        from barnabas.spark.sink.options import SinkOptions
        from barnabas.spark.source.inference import decoded_types

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
        """The options of the table that the schema belongs to, with those of the query."""
        stored = stored_options(schema)
        if not stored:
            if not self._texts:
                raise ConfigError(NO_OPTIONS)
            return self._texts
        return merged(stored, self._texts)

    def _checked(self, texts: dict[str, str]) -> SourceOptions:
        """The options, if they are valid for a batch or for a stream: which is not known yet."""
        try:
            return SourceOptions.parse(texts, streaming=False)
        except ConfigError:
            try:
                return SourceOptions.parse(texts, streaming=True)
            except ConfigError:
                pass
            raise
