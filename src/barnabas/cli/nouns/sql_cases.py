"""Runs test cases of SQL or Python topologies and prints the results.

`test` imports this module when it runs: PySpark is an optional extra.
"""

import argparse
import sys
from pathlib import Path

from barnabas.cli.framework.output import CHECK_FAILED, DONE, JSON, json_text
from barnabas.model.errors import ConfigError
from barnabas.streams.sql.cases import Case, Outcome, find_cases, one_session, run_case
from barnabas.testing import Broker


def run(arguments: argparse.Namespace) -> int:
    """Runs the selected cases and returns the exit code."""
    directory = Path(arguments.directory)
    if not directory.is_dir():
        raise ConfigError(f"{directory}: no such directory")
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


def _run_all(cases: list[Case], *, quiet: bool) -> list[Outcome]:
    outcomes = []
    # Timestamps in cases are small numbers; with retention the broker would delete the records.
    with one_session() as spark:
        for case in cases:
            with Broker({"log.retention.ms": "-1"}) as broker:
                outcome = run_case(case, broker.bootstrap_servers, spark)
            outcomes.append(outcome)
            if not quiet:
                _print_outcome(outcome)
    return outcomes


def _print_outcome(outcome: Outcome) -> None:
    sys.stdout.write(f"{'ok    ' if outcome.passed else 'FAILED'}  {outcome.case.name}\n")
    for problem in outcome.problems:
        sys.stdout.write("".join(f"  {line}\n" for line in problem.splitlines()))
    sys.stdout.flush()
