"""Find out why a cluster is unreachable or unhealthy; print the cause and the fix.

Checks host names, ports, an address of ZooKeeper instead of a broker, TLS and SASL settings, the
advertised address of every broker, API versions, clocks, leaders and replicas. The command only
reads; with --probe it also writes one record to a temporary topic and deletes the topic. The exit
code is 3 when a check failed.
"""

import argparse
import sys
from collections.abc import Iterator

from barnabas.cli.framework.connection import Connection
from barnabas.cli.framework.exit_codes import CHECK_FAILED, DONE
from barnabas.cli.framework.options import add_common_options
from barnabas.cli.framework.output import show, show_document, table_text
from barnabas.cli.nouns.doctor_addresses import AddressCheck, Finding, Status, failed
from barnabas.cli.nouns.doctor_cluster import check_cluster
from barnabas.clients.core.options import ClientOptions
from barnabas.model.config_keys.client import ADMIN_KEYS
from barnabas.model.errors import BarnabasError, ConfigError
from barnabas.net.connection_options import Address

EXAMPLE = "barnabas doctor -b localhost:9092 --format json"
COLUMNS = ("status", "check", "target", "detail")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--probe", action="store_true", help="also write and read a record")
    add_common_options(parser)


def run(arguments: argparse.Namespace) -> int:
    findings = list(examine(Connection.of(arguments), probe=arguments.probe))
    well = all(finding.status is not Status.FAILED for finding in findings)
    rows = [finding.row() for finding in findings]
    if arguments.format == "tsv":
        show(arguments, rows, (*COLUMNS, "cause", "fix"))
    else:
        text = table_text(rows, COLUMNS) + "".join(_advice(f) for f in findings)
        show_document(arguments, {"ok": well, "findings": rows}, text)
    sys.stdout.flush()
    return DONE if well else CHECK_FAILED


def examine(connection: Connection, *, probe: bool) -> Iterator[Finding]:
    """Yields the findings of all checks; skips those that depend on a failed check."""
    try:
        options = ClientOptions.from_values(
            ADMIN_KEYS.parse(connection.supported_settings(ADMIN_KEYS))
        )
    except ConfigError as error:
        yield failed(
            "settings",
            connection.bootstrap,
            str(error),
            "a setting is wrong",
            "correct the setting",
        )
        return
    routes = [
        AddressCheck(address, options.connection, "bootstrap") for address in options.bootstrap
    ]
    for route in routes:
        yield from route.check()
    answered = next((route for route in routes if route.answered), None)
    if answered is None or answered.metadata is None:
        return
    reachable = True
    for broker in answered.metadata.brokers:
        address = Address(broker.host, broker.port)
        for finding in AddressCheck(address, options.connection, "advertised").check():
            reachable = reachable and finding.status is Status.OK
            yield _advertised(finding, broker.node_id)
    if not reachable:
        return
    try:
        yield from check_cluster(connection, probe=probe)
    except BarnabasError as error:
        yield failed("cluster", connection.bootstrap, str(error), "a request failed", "see above")


def _advertised(finding: Finding, broker_id: int) -> Finding:
    return Finding(
        f"advertised {finding.check}",
        finding.status,
        f"broker {broker_id} at {finding.target}",
        finding.detail,
        finding.cause,
        finding.fix,
    )


def _advice(finding: Finding) -> str:
    if finding.status is Status.OK:
        return ""
    return (
        f"\n{finding.check}: {finding.detail}\n  cause: {finding.cause}\n  fix:   {finding.fix}\n"
    )
