"""Serve the web console of a cluster: topics, records, groups, pipelines, and a JSON API.

Works with Barnabas and with Apache Kafka. Listens on this machine only, unless a login method is
selected. Prints one line "console at URL" when browsers can connect; Ctrl-C stops it.
"""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from barnabas.cli.framework.connection import Connection, add_connection_options, key_values
from barnabas.cli.framework.options import port_number
from barnabas.cli.framework.verbs import load
from barnabas.model import config_keys
from barnabas.model.errors import ConfigError

if TYPE_CHECKING:
    from barnabas.console.settings import OidcSettings

EXAMPLE = "barnabas console --bootstrap-server localhost:9092 --port 8080"
_LOGINS = ("none", "scram", "proxy", "oidc")
_ROLES = ("read", "operate", "admin")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--port", type=port_number, default=8080, help="0 selects a free port (default: 8080)"
    )
    parser.add_argument(
        "--host", default="127.0.0.1", help="address to listen on (default: %(default)s)"
    )
    parser.add_argument("--read-only", action="store_true", help="offer and accept no changes")
    parser.add_argument(
        "--zookeeper", metavar="HOST:PORT", help="show the ZooKeeper tree of the cluster"
    )
    parser.add_argument(
        "--schema-registry", metavar="URL", help="decode Avro and Protobuf values by its schemas"
    )
    parser.add_argument(
        "--metrics-url",
        metavar="URL",
        action="append",
        default=[],
        help="HTTP endpoint of a broker, to show the metrics that clients push; repeatable",
    )
    _add_security_options(parser)
    add_connection_options(parser)


def _add_security_options(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("security")
    group.add_argument(
        "--login",
        choices=_LOGINS,
        default="none",
        help="scram: users of the cluster; proxy: a header; oidc: OpenID Connect (default: none, "
        "only on a loopback address)",
    )
    group.add_argument(
        "--role",
        metavar="USER=ROLE",
        action="append",
        default=[],
        help="role of a user: read, operate or admin; repeatable",
    )
    group.add_argument(
        "--default-role", choices=_ROLES, default="read", help="role of other users (default: read)"
    )
    group.add_argument("--public-host", metavar="NAME", help="host name that browsers use")
    group.add_argument("--proxy-header", metavar="NAME", default="X-Forwarded-User")
    group.add_argument(
        "--trusted-proxy",
        metavar="ADDRESS",
        action="append",
        help="address or network of the proxy (default: loopback)",
    )
    group.add_argument("--oidc-issuer", metavar="URL", help="the OpenID Connect provider")
    group.add_argument("--oidc-client-id", metavar="ID", help="this console's id at the provider")
    group.add_argument(
        "--oidc-client-secret-file", type=Path, metavar="FILE", help="for confidential clients"
    )
    group.add_argument(
        "--oidc-user-claim",
        metavar="NAME",
        default="preferred_username",
        help="claim with the user's name (default: %(default)s)",
    )
    group.add_argument("--audit-log", type=Path, metavar="FILE", help="append every change here")


def run(arguments: argparse.Namespace) -> int:
    connection = Connection.of(arguments)
    # Optional extra: `console` is imported when the command runs, so that --help works without it.
    settings = load("barnabas.console.settings").ConsoleSettings(
        client=connection.settings,
        host=arguments.host,
        port=arguments.port,
        read_only=arguments.read_only,
        login=arguments.login,
        proxy_header=arguments.proxy_header,
        trusted_proxies=tuple(arguments.trusted_proxy or ("127.0.0.1", "::1")),
        roles=key_values(arguments.role, "--role"),
        default_role=arguments.default_role,
        public_host=arguments.public_host,
        audit_log=arguments.audit_log,
        zookeeper=arguments.zookeeper,
        schema_registry=arguments.schema_registry,
        oidc=_oidc(arguments),
        metrics_urls=tuple(arguments.metrics_url),
    )
    _check_settings(connection)
    return int(load("barnabas.console.server").run_console(settings))


def _oidc(arguments: argparse.Namespace) -> "OidcSettings | None":
    if arguments.login != "oidc" or not (arguments.oidc_issuer and arguments.oidc_client_id):
        return None
    file = arguments.oidc_client_secret_file
    try:
        secret = None if file is None else file.read_text(encoding="utf-8").strip()
    except OSError as error:
        raise ConfigError(f"--oidc-client-secret-file {file}: {error.strerror}") from error
    made: OidcSettings = load("barnabas.console.settings").OidcSettings(
        arguments.oidc_issuer, arguments.oidc_client_id, secret, arguments.oidc_user_claim
    )
    return made


def _check_settings(connection: Connection) -> None:
    """Raises ConfigError for a setting that no client has.

    A cluster that is down is not an error: the console shows it, and recovers with the cluster.
    """
    if not connection.bootstrap.strip():
        raise ConfigError("--bootstrap-server: an address is required")
    # Imported when the command runs: the clients are not needed for --help.
    options = load("barnabas.clients.core.options")
    options.parse_addresses(text.strip() for text in connection.bootstrap.split(","))
    table = config_keys.ADMIN_KEYS
    table.parse(connection.supported_settings(table))
