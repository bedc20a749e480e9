"""Run test cases of SQL or Python topologies: statements, input and expected rows in files.

A case is a directory with case.sql (or case.py), input/TOPIC.jsonl and expected/NAME.jsonl. Each
case has its own in-process broker; all share one Spark session. Differences are shown as a diff.
The exit code is 3 when a case failed.
"""

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from barnabas import testing
from barnabas.cli.framework.output import CHECK_FAILED, DONE, JSON, json_text
from barnabas.model.errors import ConfigError

if TYPE_CHECKING:
    from barnabas.streams.sql.cases import Outcome

EXAMPLE = """
barnabas test cases/
barnabas test cases/ -k region --format json
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "directory", metavar="DIR", help="directory that is searched for cases recursively"
    )
    parser.add_argument("-k", "--only", metavar="TEXT", help="only cases with TEXT in their name")
    parser.add_argument(
        "--format", choices=("table", "json"), default="table", help="(default: %(default)s)"
    )


def run(arguments: argparse.Namespace) -> int:
    """Runs the selected cases and returns the exit code."""
    # PySpark is an optional extra, and the help of this command does not need it.
    from barnabas.streams.sql.cases import find_cases, one_session, run_case

    directory = Path(arguments.directory)
    if not directory.is_dir():
        raise ConfigError(f"{directory}: no such directory")
    cases = [case for case in find_cases(directory) if (arguments.only or "") in case.name]
    if not cases:
        raise ConfigError(f"no case name contains {arguments.only!r}")
    outcomes = []
    with one_session() as spark:
        for case in cases:
            # Timestamps in cases are small numbers; with retention the records would be deleted.
            with testing.Broker({"log.retention.ms": "-1"}) as broker:
                outcomes.append(run_case(case, broker.bootstrap_servers, spark))
            if arguments.format != JSON:
                _print_outcome(outcomes[-1])
    return _report(outcomes, arguments.format)


def _report(outcomes: list["Outcome"], form: str) -> int:
    failed = sum(not outcome.passed for outcome in outcomes)
    if form == JSON:
        rows = [
            {"case": outcome.case.name, "passed": outcome.passed, "problems": outcome.problems}
            for outcome in outcomes
        ]
        sys.stdout.write(json_text(rows) + "\n")
    else:
        sys.stdout.write(f"{len(outcomes) - failed} passed, {failed} failed\n")
    return CHECK_FAILED if failed else DONE


def _print_outcome(outcome: "Outcome") -> None:
    sys.stdout.write(f"{'ok    ' if outcome.passed else 'FAILED'}  {outcome.case.name}\n")
    for problem in outcome.problems:
        sys.stdout.write("".join(f"  {line}\n" for line in problem.splitlines()))
    sys.stdout.flush()
