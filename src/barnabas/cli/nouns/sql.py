"""SQL over topics: streams, tables and queries, run by Spark.

A shell on a terminal; otherwise statements from FILE, -e or standard input. In a script the
queries that it defines process what is there, and the command ends; --keep-running lets all
queries of the cluster run until Ctrl-C. What was defined is kept in the cluster: a later shell
goes on with it.
"""

import argparse
import sys
from pathlib import Path

from barnabas.cli.framework.connection import Connection, add_connection_options
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
    parser.add_argument("--state-dir", metavar="DIR", help="where queries keep their checkpoints")
    parser.add_argument(
        "--keep-running", action="store_true", help="after the script, run all queries on"
    )
    parser.add_argument(
        "--no-queries", action="store_true", help="a shell that only defines queries, runs none"
    )
    add_connection_options(parser)


def run(arguments: argparse.Namespace) -> int:
    text = _script(arguments)
    interactive = text is None
    connection = Connection.of(arguments)
    _check_installed()
    from barnabas.cli.nouns.sql_script import Printer
    from barnabas.streams.sql.engine.engine import Engine

    connection.admin().close()  # a cluster that is not there is told at once
    with Engine(
        connection.settings,
        state_dir=arguments.state_dir,
        run_queries=interactive and not arguments.no_queries,
        short_life=not interactive and not arguments.keep_running,
    ) as engine:
        printer = Printer(arguments.format, sys.stdout)
        if text is None:
            from barnabas.cli.nouns.sql_shell import run_shell

            return run_shell(engine, printer)
        from barnabas.cli.nouns.sql_script import run_script

        return run_script(engine, text, printer, keep_running=arguments.keep_running)


def _script(arguments: argparse.Namespace) -> str | None:
    """The statements that were given; None when a person will type them."""
    if arguments.execute is not None:
        if arguments.file is not None:
            raise ConfigError("FILE and -e exclude each other")
        return str(arguments.execute)
    if arguments.file not in (None, "-"):
        try:
            return Path(arguments.file).read_text(encoding="utf-8")
        except OSError as error:
            raise ConfigError(f"{arguments.file}: {error.strerror}") from None
        except UnicodeDecodeError:
            raise ConfigError(f"{arguments.file}: is not text in UTF-8") from None
    if arguments.file == "-" or not sys.stdin.isatty():
        return sys.stdin.read()
    return None


def _check_installed() -> None:
    from importlib.util import find_spec

    missing = [name for name in ("sqlglot", "pyspark", "prompt_toolkit") if find_spec(name) is None]
    if missing:
        raise ConfigError(f"{', '.join(missing)} not installed: pip install 'barnabas[sql]'")
