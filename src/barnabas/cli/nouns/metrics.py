"""Print the metrics of a broker, or write dashboards and alert rules for them.

`show` reads the HTTP endpoint of a broker that was started with --http-port or `http.listener`.
`files` writes Grafana dashboards and Prometheus alert rules into a directory.
"""

import argparse
import re
import sys
import urllib.error
import urllib.request
from importlib import resources
from pathlib import Path
from typing import Any

from barnabas.cli.framework.output import DONE, add_format_option, show
from barnabas.cli.framework.verbs import Verb, add_verbs, run_verb
from barnabas.model.errors import ConfigError, LocalError

COLUMNS = ("metric", "labels", "value")
_DEFAULT_URL = "http://127.0.0.1:9404"
_TIMEOUT_S = 10.0
_FILES = "barnabas.broker.metrics.files"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_verbs(parser, VERBS)


run = run_verb


def _show_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "pattern",
        nargs="?",
        default="",
        help="regular expression: print only metrics whose name or labels match, in any case",
    )
    parser.add_argument(
        "--url", default=_DEFAULT_URL, help="address of the endpoint (default: %(default)s)"
    )
    add_format_option(parser)


def _show(arguments: argparse.Namespace) -> int:
    try:
        pattern = re.compile(arguments.pattern, re.IGNORECASE)
    except re.error as error:
        raise ConfigError(f"{arguments.pattern!r} is not a regular expression: {error}") from error
    rows = [
        row
        for row in read_metrics(arguments.url)
        if pattern.search(row["metric"]) or pattern.search(row["labels"])
    ]
    if arguments.format == "table":  # tables round to one decimal: 0.003 s would be 0.0
        rows = [{**row, "value": _digits(row["value"])} for row in rows]
    show(arguments, rows, COLUMNS)
    if not rows:
        sys.stderr.write(f"no metric matches {arguments.pattern!r}\n")
    return DONE


def _digits(value: float) -> str:
    """Returns a number with up to six significant digits, integers in full.

    >>> _digits(0.00312), _digits(1790000000), _digits(99.5)
    ('0.00312', '1790000000', '99.5')
    """
    return str(value) if isinstance(value, int) else f"{value:.6g}"


def read_metrics(url: str) -> list[dict[str, Any]]:
    """Returns the samples that the endpoint of a broker serves.

    Raises:
        LocalError: The address cannot be reached, or does not serve metrics.
    """
    # Start-up time of the other commands.
    from prometheus_client.parser import text_string_to_metric_families

    address = url if "//" in url else f"http://{url}"
    address = address if address.endswith("/metrics") else address.rstrip("/") + "/metrics"
    try:
        with urllib.request.urlopen(address, timeout=_TIMEOUT_S) as reply:
            text = reply.read().decode()
        families = list(text_string_to_metric_families(text))
    except (OSError, ValueError) as error:
        if isinstance(error, urllib.error.HTTPError):
            error.close()  # closes the connection of the response
        reason = getattr(error, "reason", error)
        raise LocalError(
            f"cannot read {address}: {reason}; start the broker with --http-port"
        ) from error
    return [
        {
            "metric": sample.name,
            "labels": ",".join(f"{key}={value}" for key, value in sorted(sample.labels.items())),
            "value": int(sample.value) if sample.value.is_integer() else sample.value,
        }
        for family in families
        for sample in family.samples
    ]


def _files_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("directory", type=Path, metavar="DIR")


def _files(arguments: argparse.Namespace) -> int:
    directory: Path = arguments.directory
    directory.mkdir(parents=True, exist_ok=True)
    for item in sorted(resources.files(_FILES).iterdir(), key=lambda item: item.name):
        if item.name.endswith((".json", ".yml")):
            path = directory / item.name
            path.write_bytes(item.read_bytes())
            sys.stdout.write(f"{path}\n")
    return DONE


VERBS = (
    Verb(
        "show",
        "print the current values",
        "barnabas metrics show messagesin --url http://127.0.0.1:9404",
        _show_arguments,
        _show,
    ),
    Verb(
        "files",
        "write Grafana dashboards and Prometheus alert rules",
        "barnabas metrics files ./monitoring",
        _files_arguments,
        _files,
    ),
)
