"""Parses limits per address: `10.0.0.7:100,client.example:5`, IPv6 without brackets."""

import re

_HOST = re.compile(r"[0-9A-Za-z\-%._:]+")


def parse_address_limits(text: str) -> dict[str, int]:
    """Returns the limit of each host name or address.

    Raises:
        ValueError: An entry does not have the form host:count.

    >>> parse_address_limits("10.0.0.7:100, ::1:5")
    {'10.0.0.7': 100, '::1': 5}
    """
    limits = {}
    for pair in filter(None, map(str.strip, text.split(","))):
        host, _, count = pair.rpartition(":")
        if not _HOST.fullmatch(host.strip()) or not re.fullmatch("[0-9]+", count.strip()):
            raise ValueError(f"{pair!r} is not of the form host:count")
        limits[host.strip()] = int(count)
    return limits


def address_limits_problem(text: str) -> str | None:
    """Validates the value of max.connections.per.ip.overrides."""
    try:
        parse_address_limits(text)
    except ValueError:
        return "must be host:count pairs, for example 10.0.0.7:100,client.example:5"
    return None


def closed_to_all(per_ip: int, overrides: str) -> str | None:
    """Returns an error text if the limit is 0 and no address has an override."""
    if per_ip or parse_address_limits(overrides):
        return None
    return "max.connections.per.ip=0: no client can connect; set max.connections.per.ip.overrides"
