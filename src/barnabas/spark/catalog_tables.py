"""Options of tables in Spark's catalog: `CREATE TABLE t USING barnabas OPTIONS (...)`.

Spark shows a Python data source the properties of a table only once, when the table is created
without declared columns. Later reads and inserts get the stored schema but no options. The source
therefore stores the table's options in the metadata of the schema's last column, where every later
use of the table finds them.

Column metadata travels with the rows, for example into Parquet files. Passwords are refused.
"""

import json
from collections.abc import Mapping

from pyspark.sql.types import StructField, StructType

from barnabas.model.config import ConfigTable
from barnabas.model.config_keys.client import CLIENT_KEYS
from barnabas.model.errors import ConfigError
from barnabas.spark.client_settings import KAFKA_PREFIX
from barnabas.spark.option_values import SPARK_TABLE_PROPERTIES
from barnabas.spark.sink.options import SINK_OPTIONS
from barnabas.spark.source.options import SOURCE_OPTIONS

PROVIDER = "provider"
OPTION_PREFIX = "option."
METADATA_KEY = "barnabas.options"

NO_OPTIONS = (
    "no options have reached the source. Spark does not pass the OPTIONS of a table with declared "
    "columns to a Python data source. Leave out the columns (CREATE TABLE t USING barnabas OPTIONS "
    "(...)), create a view (CREATE TEMPORARY VIEW v USING barnabas OPTIONS (...)), or give the "
    "options in the query (SELECT * FROM t WITH (`kafka.bootstrap.servers` = '...', ...))"
)


def is_table_creation(given: Mapping[str, str]) -> bool:
    """Whether these are the properties of a table that Spark is about to create."""
    return PROVIDER in {name.lower() for name in given}


def declared_options(properties: Mapping[str, str]) -> dict[str, str]:
    """The options among a table's properties: the OPTIONS clause, or else TBLPROPERTIES.

    Spark repeats each of OPTIONS with the prefix `option.`, beside properties of its own.
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
    """A table's options without those that only the sink reads."""
    return _without(options, SINK_OPTIONS, SOURCE_OPTIONS)


def sink_part(options: Mapping[str, str]) -> dict[str, str]:
    """A table's options without those that only the source reads."""
    return _without(options, SOURCE_OPTIONS, SINK_OPTIONS)


def with_options(schema: StructType, options: Mapping[str, str]) -> StructType:
    """The schema with a table's options in the metadata of its last column."""
    secrets = ConfigTable(CLIENT_KEYS)
    for name in options:
        key = name.lower().removeprefix(KAFKA_PREFIX)
        if key in secrets and secrets[key].sensitive:
            raise ConfigError(
                f"option {name!r}: a table of the catalog cannot keep a password, since its "
                "options are stored with the schema. Use CREATE TEMPORARY VIEW, or give the option "
                f"in the query: SELECT * FROM t WITH (`{name}` = '...')"
            )
    *fields, last = schema.fields
    metadata = {**(last.metadata or {}), METADATA_KEY: json.dumps(_lower(options), sort_keys=True)}
    kept = StructField(last.name, last.dataType, last.nullable, metadata)
    return StructType([*fields, kept])


def stored_options(schema: StructType) -> dict[str, str]:
    """The options that `with_options` has put into a schema; none in other schemas."""
    for field in reversed(schema.fields):
        text = (field.metadata or {}).get(METADATA_KEY)
        if text is not None:
            found: dict[str, str] = json.loads(text)
            return found
    return {}


def merged(stored: Mapping[str, str], given: Mapping[str, str]) -> dict[str, str]:
    """A table's options, overridden by those of a query (`SELECT * FROM t WITH (...)`)."""
    return {**_lower(stored), **_lower(given)}


def _lower(options: Mapping[str, str]) -> dict[str, str]:
    return {name.lower(): text for name, text in options.items()}


def _without(
    options: Mapping[str, str], left_out: tuple[str, ...], kept: tuple[str, ...]
) -> dict[str, str]:
    names = {name.lower() for name in left_out} - {name.lower() for name in kept}
    return {name: text for name, text in options.items() if name.lower() not in names}
