"""Run test cases of SQL or Python topologies: statements, input and expected rows in files.

A case is a directory with case.sql (or case.py), input/TOPIC.jsonl and expected/NAME.jsonl. Each
case has its own in-process broker; all share one Spark session. Differences are shown as a diff.
The exit code is 3 when a case failed.
"""

import argparse

from barnabas.cli.framework.verbs import run_in_module

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


run = run_in_module("nouns.sql_cases")
