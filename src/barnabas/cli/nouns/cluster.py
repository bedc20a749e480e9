"""Cluster id, controller, brokers, and the API versions of a broker."""

import argparse

from barnabas.cli.framework.connection import Connection
from barnabas.cli.framework.options import add_common_options
from barnabas.cli.framework.output import DONE, show, show_document, table_text
from barnabas.cli.framework.verbs import Verb, add_verbs, run_verb

BROKER_COLUMNS = ("id", "host", "port", "rack", "controller")
VERSION_COLUMNS = ("key", "name", "min_version", "max_version")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_verbs(parser, VERBS)


run = run_verb


def _info(arguments: argparse.Namespace) -> int:
    with Connection.of(arguments).admin() as admin:
        cluster = admin.describe_cluster()
    brokers = [
        {
            "id": node.id,
            "host": node.host,
            "port": node.port,
            "rack": node.rack,
            "controller": node.id == cluster.controller,
        }
        for node in cluster.brokers
    ]
    document = {
        "cluster_id": cluster.cluster_id,
        "controller": cluster.controller,
        "brokers": brokers,
    }
    if arguments.format == "tsv":
        show(arguments, brokers, BROKER_COLUMNS)
        return DONE
    controller = "-" if cluster.controller is None else cluster.controller
    text = f"CLUSTER-ID  {cluster.cluster_id or '-'}\nCONTROLLER  {controller}\n\n"
    show_document(arguments, document, text + table_text(brokers, BROKER_COLUMNS))
    return DONE


def _versions_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--broker", type=int, metavar="ID", help="broker to ask (default: any)")
    add_common_options(parser)


def _versions(arguments: argparse.Namespace) -> int:
    with Connection.of(arguments).admin() as admin:
        versions = admin.describe_api_versions(arguments.broker)
    rows = [
        {
            "key": item.key,
            "name": item.name,
            "min_version": item.min_version,
            "max_version": item.max_version,
        }
        for item in versions
    ]
    show(arguments, rows, VERSION_COLUMNS)
    return DONE


VERBS = (
    Verb(
        "info",
        "id, controller and brokers",
        "barnabas cluster info --format json",
        add_common_options,
        _info,
    ),
    Verb(
        "versions",
        "the API versions that a broker supports",
        "barnabas cluster versions --broker 1",
        _versions_arguments,
        _versions,
    ),
)
