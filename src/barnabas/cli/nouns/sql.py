"""Run SQL statements on topics: streams, tables and queries, executed by Spark.

On a terminal an interactive shell starts; otherwise the statements of FILE, -e or standard input
run as a script. Queries that a script defines process the existing records, then the command ends;
--keep-running runs all queries of the cluster until Ctrl-C. Definitions are stored in the cluster,
and later shells use them.
"""

import argparse
import sys
from importlib.util import find_spec
from pathlib import Path

from barnabas.cli.framework.connection import Connection, add_connection_options
from barnabas.cli.framework.verbs import load
from barnabas.model.errors import ConfigError

EXAMPLE = """
barnabas sql
barnabas sql -e "SELECT userid, COUNT(*) AS n FROM pageviews GROUP BY userid ORDER BY n DESC"
barnabas sql app.sql --keep-running
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", nargs="?", metavar="FILE", help="statements; - is standard input")
    parser.add_argument(
        "-e", "--execute", metavar="STATEMENT", help="statements on the command line"
    )
    parser.add_argument(
        "--format", choices=("table", "json"), default="table", help="(default: %(default)s)"
    )
    parser.add_argument("--state-dir", metavar="DIR", help="directory of the queries' checkpoints")
    parser.add_argument(
        "--keep-running", action="store_true", help="after the script, keep all queries running"
    )
    parser.add_argument(
        "--no-queries", action="store_true", help="a shell that defines queries and runs none"
    )
    add_connection_options(parser)


def run(arguments: argparse.Namespace) -> int:
    text = _script(arguments)
    settings = Connection.of(arguments).settings
    _check_installed()
    return int(load("barnabas.cli.nouns.sql_script").run_sql(arguments, settings, text))


def _script(arguments: argparse.Namespace) -> str | None:
    """Returns the statements of the command line, file or pipe; None for an interactive shell."""
    if arguments.execute is not None:
        if arguments.file is not None:
            raise ConfigError("FILE and -e cannot be used together")
        return str(arguments.execute)
    if arguments.file not in (None, "-"):
        try:
            return Path(arguments.file).read_text(encoding="utf-8")
        except OSError as error:
            raise ConfigError(f"{arguments.file}: {error.strerror}") from None
        except UnicodeDecodeError:
            raise ConfigError(f"{arguments.file}: is not UTF-8 text") from None
    if arguments.file == "-" or not sys.stdin.isatty():
        return sys.stdin.read()
    return None


def _check_installed() -> None:
    missing = [name for name in ("sqlglot", "pyspark", "prompt_toolkit") if find_spec(name) is None]
    if missing:
        raise ConfigError(f"{', '.join(missing)} not installed: pip install 'barnabas[sql]'")
