"""Run test cases of SQL or Python topologies: statements, input and expected rows in files.

A case is a directory with case.sql (or case.py), input/TOPIC.jsonl and expected/NAME.jsonl. Each
case has its own in-process broker; all share one Spark session. Differences are shown as a diff.
The exit code is 3 when a case failed.
"""

import argparse
import sys
from pathlib import Path
from typing import Any

from barnabas.cli.framework.exit_codes import CHECK_FAILED, DONE
from barnabas.cli.framework.render import JSON, json_text
from barnabas.model.errors import ConfigError

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
    directory = Path(arguments.directory)
    if not directory.is_dir():
        raise ConfigError(f"{directory}: no such directory")
    from barnabas.streams.sql.cases.case_files import find_cases

    cases = [case for case in find_cases(directory) if (arguments.only or "") in case.name]
    if not cases:
        raise ConfigError(f"no case name contains {arguments.only!r}")
    outcomes = _run_all(cases, quiet=arguments.format == JSON)
    if arguments.format == JSON:
        rows = [
            {"case": outcome.case.name, "passed": outcome.passed, "problems": outcome.problems}
            for outcome in outcomes
        ]
        sys.stdout.write(json_text(rows) + "\n")
    else:
        failed = sum(not outcome.passed for outcome in outcomes)
        sys.stdout.write(f"{len(outcomes) - failed} passed, {failed} failed\n")
    return DONE if all(outcome.passed for outcome in outcomes) else CHECK_FAILED


def _run_all(cases: list[Any], *, quiet: bool) -> list[Any]:
    # PySpark is an optional extra.
    from barnabas.streams.sql.cases.running import one_session, run_case
    from barnabas.testing import Broker

    outcomes = []
    # Timestamps in cases are small numbers; with retention the broker would delete the records.
    with one_session() as spark:
        for case in cases:
            with Broker({"log.retention.ms": "-1"}) as broker:
                outcome = run_case(case, broker.bootstrap_servers, spark)
            outcomes.append(outcome)
            if not quiet:
                _tell(outcome)
    return outcomes


def _tell(outcome: Any) -> None:
    sys.stdout.write(f"{'ok    ' if outcome.passed else 'FAILED'}  {outcome.case.name}\n")
    for problem in outcome.problems:
        sys.stdout.write("".join(f"  {line}\n" for line in problem.splitlines()))
    sys.stdout.flush()
