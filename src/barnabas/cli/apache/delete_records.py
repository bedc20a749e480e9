"""kafka-delete-records: delete the records before the offsets in a JSON file."""

import argparse

from barnabas.cli.apache.flags import add_bootstrap_options, connection_of, say
from barnabas.cli.framework.options import read_input
from barnabas.cli.framework.output import DONE, FAILED
from barnabas.cli.nouns.records import parse_offset_json

EXAMPLE = """
barnabas kafka-delete-records --bootstrap-server localhost:9092 --offset-json-file offsets.json
where offsets.json is
{"partitions": [{"topic": "orders", "partition": 0, "offset": 42}], "version": 1}
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--offset-json-file", required=True, metavar="FILE")
    add_bootstrap_options(parser)


def run(arguments: argparse.Namespace) -> int:
    wanted = parse_offset_json(read_input(arguments.offset_json_file))
    with connection_of(arguments).admin() as admin:
        say("Executing records delete operation")
        results = admin.delete_records(wanted)
    say("Records delete operation completed:")
    for topic_partition in wanted:
        error = results.errors.get(topic_partition)
        outcome = (
            f"low_watermark: {results[topic_partition]}" if error is None else f"error: {error}"
        )
        say(f"partition: {topic_partition}\t{outcome}")
    return FAILED if results.errors else DONE
