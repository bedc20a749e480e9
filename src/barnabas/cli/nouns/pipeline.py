"""Run a pipeline on Spark from a file, and show the pipelines of this machine."""

import argparse
from pathlib import Path

from barnabas.cli.framework.options import port_number
from barnabas.cli.framework.output import DONE, FAILED, add_format_option, show, show_document
from barnabas.cli.framework.verbs import Verb, add_verbs, run_in_module, run_verb
from barnabas.spark import pipeline_registry as registry

LIST_COLUMNS = ("name", "state", "batch", "rows_per_second", "lag", "batch_ms", "updated")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_verbs(parser, VERBS)


run = run_verb


def _run_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", type=Path, metavar="FILE", help="a .py, .yaml or .yml file")
    parser.add_argument(
        "--check", action="store_true", help="check the file without running the pipeline"
    )
    parser.add_argument(
        "--available-now", action="store_true", help="process the existing records, then end"
    )
    parser.add_argument(
        "-b",
        "--bootstrap-server",
        metavar="HOST:PORT",
        help="overrides the setting of the file",
    )
    parser.add_argument("-q", "--quiet", action="store_true", help="show no progress")
    parser.add_argument(
        "--http-port",
        type=port_number,
        metavar="N",
        help="serve /metrics for Prometheus on this port of 127.0.0.1; 0 selects a free port",
    )
    _state_dir_argument(parser)


def _list_arguments(parser: argparse.ArgumentParser) -> None:
    add_format_option(parser)
    _state_dir_argument(parser)


def _list(arguments: argparse.Namespace) -> int:
    show(arguments, registry.PipelineRegistry(arguments.state_dir).read_all(), LIST_COLUMNS)
    return DONE


def _status_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", metavar="NAME")
    add_format_option(parser)
    _state_dir_argument(parser)


def _status(arguments: argparse.Namespace) -> int:
    document = registry.PipelineRegistry(arguments.state_dir).read(arguments.name)
    lines = [f"{name}: {value}" for name, value in document.items() if value is not None]
    show_document(arguments, document, "\n".join(lines))
    return FAILED if document["state"] in (registry.FAILED, registry.DIED) else DONE


def _state_dir_argument(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--state-dir",
        type=Path,
        default=None,
        help="directory of the run states"
        " (default: $BARNABAS_STATE_DIR or ~/.local/state/barnabas)",
    )


VERBS = (
    Verb(
        "run",
        "run a pipeline in the foreground, starting at its checkpoint",
        "barnabas pipeline run orders.yaml",
        _run_arguments,
        run_in_module("nouns.pipeline_run"),
    ),
    Verb(
        "list",
        "the pipelines that ran on this machine",
        "barnabas pipeline list",
        _list_arguments,
        _list,
        ("ls",),
    ),
    Verb(
        "status",
        "show the status of a pipeline; exit code 1 when it failed or its process died",
        "barnabas pipeline status orders --format json",
        _status_arguments,
        _status,
    ),
)
