"""kafka-delegation-tokens: create, renew, expire, describe."""

import argparse
import base64
import binascii
from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from barnabas.cli.apache.flags import add_bootstrap_options, connection_of, say
from barnabas.cli.framework.output import DONE
from barnabas.model.errors import ConfigError

if TYPE_CHECKING:
    from barnabas.admin import Admin, DelegationToken

EXAMPLE = """
barnabas kafka-delegation-tokens --bootstrap-server localhost:9092 \\
    --command-config alice.properties --create --max-life-time-period -1
"""
_WIDTHS = (15, 30, 15, 15, 25, 15, 15, 15)
_HEADS = (
    *("TOKENID", "HMAC", "OWNER", "REQUESTER"),
    *("RENEWERS", "ISSUEDATE", "EXPIRYDATE", "MAXDATE"),
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_bootstrap_options(parser)
    action = parser.add_mutually_exclusive_group(required=True)
    action.add_argument("--create", action="store_true", help="create a token")
    action.add_argument("--renew", action="store_true", help="extend the lifetime of a token")
    action.add_argument("--expire", action="store_true", help="change when a token expires")
    action.add_argument("--describe", action="store_true", help="list tokens")
    parser.add_argument("--owner-principal", action="append", default=[], metavar="User:NAME")
    parser.add_argument("--renewer-principal", action="append", default=[], metavar="User:NAME")
    parser.add_argument(
        "--max-life-time-period", type=int, metavar="MS", help="-1: the broker's maximum"
    )
    parser.add_argument(
        "--renew-time-period", type=int, metavar="MS", help="-1: the broker's default"
    )
    parser.add_argument("--expiry-time-period", type=int, metavar="MS", help="-1: immediately")
    parser.add_argument("--hmac", help="secret of the token, in base64")


def run(arguments: argparse.Namespace) -> int:
    actions = {"create": _create, "renew": _renew, "expire": _expire, "describe": _describe}
    chosen = next(name for name in actions if getattr(arguments, name))
    _check(arguments, chosen)
    with connection_of(arguments).admin() as admin:
        actions[chosen](admin, arguments)
    return DONE


def _check(arguments: argparse.Namespace, action: str) -> None:
    needed = {
        "create": ["max_life_time_period"],
        "renew": ["hmac", "renew_time_period"],
        "expire": ["hmac", "expiry_time_period"],
        "describe": [],
    }
    missing = [name for name in needed[action] if getattr(arguments, name) is None]
    if missing:
        flag = missing[0].replace("_", "-")
        raise ConfigError(f"--{action} needs --{flag}")
    if arguments.hmac is not None:
        _secret(arguments.hmac)
    for principal in (*arguments.owner_principal, *arguments.renewer_principal):
        kind, _, name = principal.partition(":")
        if not kind or not name:
            raise ConfigError(f"a principal must look like User:name, not {principal!r}")
    if action == "create" and len(arguments.owner_principal) > 1:
        raise ConfigError("a token has one owner: give --owner-principal once")


def _create(admin: "Admin", arguments: argparse.Namespace) -> None:
    period = arguments.max_life_time_period
    renewers = ", ".join(arguments.renewer_principal)
    say(
        f"Calling create token operation with renewers :[{renewers}] ,"
        f" max-life-time-period :{period}"
    )
    token = admin.create_delegation_token(
        owner=next(iter(arguments.owner_principal), None),
        renewers=arguments.renewer_principal,
        max_lifetime=_seconds(period),
    )
    say(f"Created delegation token with tokenId : {token.token_id}")
    say("")
    _show([token])


def _renew(admin: "Admin", arguments: argparse.Namespace) -> None:
    hmac, period = arguments.hmac, arguments.renew_time_period
    say(f"Calling renew token operation with hmac :{hmac} , renew-time-period :{period}")
    expires_ms = admin.renew_delegation_token(_secret(hmac), _seconds(period))
    say(f"Completed renew operation. New expiry date : {_date(expires_ms)}")


def _expire(admin: "Admin", arguments: argparse.Namespace) -> None:
    hmac, period = arguments.hmac, arguments.expiry_time_period
    say(f"Calling expire token operation with hmac :{hmac} , expire-time-period :{period}")
    expires_ms = admin.expire_delegation_token(_secret(hmac), _seconds(period))
    say(f"Completed expire operation. New expiry date : {_date(expires_ms)}")


def _describe(admin: "Admin", arguments: argparse.Namespace) -> None:
    owners = arguments.owner_principal
    if owners:
        say(f"Calling describe token operation for owners: [{', '.join(owners)}]")
    else:
        say("Calling describe token operation for current user.")
    tokens = admin.describe_delegation_tokens(owners or None)
    say(f"Total number of tokens : {len(tokens)}")
    _show(tokens)


def _show(tokens: "list[DelegationToken]") -> None:
    say(_row(_HEADS))
    for token in tokens:
        dates = map(_date, (token.issued_ms, token.expires_ms, token.ends_ms))
        secret = base64.b64encode(token.hmac).decode()
        renewers = f"[{', '.join(token.renewers)}]"
        say("")
        say(_row((token.token_id, secret, token.owner, token.requester, renewers, *dates)))


def _row(cells: Sequence[str]) -> str:
    return " ".join(f"{cell:<{width}}" for cell, width in zip(cells, _WIDTHS, strict=True))


def _date(time_ms: int) -> str:
    return datetime.fromtimestamp(time_ms / 1000).astimezone().strftime("%Y-%m-%dT%H:%M")


def _seconds(period_ms: int) -> float | None:
    return None if period_ms < 0 else period_ms / 1000


def _secret(text: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except binascii.Error:
        raise ConfigError("--hmac: must be the base64 text that --create printed") from None
