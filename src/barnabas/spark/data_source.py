"""`format("barnabas")`: the door Spark comes in by.

Options are checked as soon as Spark shows them, so that a wrong one fails at `load()` and not in
the middle of a job. Spark does each step in another process: a reader, a writer and the clients
behind them are imported only where they are needed.
"""

from collections.abc import MutableMapping

from pyspark.sql.datasource import (
    DataSource,
    DataSourceReader,
    DataSourceStreamReader,
    DataSourceStreamWriter,
    DataSourceWriter,
)
from pyspark.sql.types import StructType

from barnabas.model.errors import ConfigError
from barnabas.spark import FORMAT
from barnabas.spark.source.columns import source_schema
from barnabas.spark.source.options import SourceOptions


class BarnabasDataSource(DataSource):
    """Topics as a source and a sink; Spark makes one per use, in short-lived processes."""

    def __init__(self, options: MutableMapping[str, str]) -> None:
        super().__init__(options)
        self._texts = dict(options)

    @classmethod
    def name(cls) -> str:
        return FORMAT

    def schema(self) -> StructType:
        from barnabas.spark.source.inference import decoded_types

        options = self._checked()
        return source_schema(options.include_headers, decoded_types(options))

    def reader(self, schema: StructType) -> DataSourceReader:
        from barnabas.spark.source.batch_reader import BatchReader, FilteringBatchReader

        options = SourceOptions.parse(self._texts, streaming=False)
        kind = FilteringBatchReader if options.push_filters else BatchReader
        return kind(options, schema)

    def streamReader(self, schema: StructType) -> DataSourceStreamReader:
        from barnabas.spark.source.stream_reader import StreamReader

        return StreamReader(SourceOptions.parse(self._texts, streaming=True), schema)

    def writer(self, schema: StructType, overwrite: bool) -> DataSourceWriter:
        from barnabas.spark.sink.options import SinkOptions
        from barnabas.spark.sink.writers import BatchWriter

        if overwrite:
            raise ConfigError("a topic cannot be overwritten: use mode('append')")
        return BatchWriter(SinkOptions.parse(self._texts, streaming=False), schema)

    def streamWriter(self, schema: StructType, overwrite: bool) -> DataSourceStreamWriter:
        from barnabas.spark.sink.options import SinkOptions
        from barnabas.spark.sink.writers import StreamWriter

        return StreamWriter(SinkOptions.parse(self._texts, streaming=True), schema)

    def _checked(self) -> SourceOptions:
        """The options, when they would do for a batch or for a stream: which, is not known yet."""
        try:
            return SourceOptions.parse(self._texts, streaming=False)
        except ConfigError:
            try:
                return SourceOptions.parse(self._texts, streaming=True)
            except ConfigError:
                pass
            raise
