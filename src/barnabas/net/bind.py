"""Listening sockets for a host and a port."""

import errno
import socket
from collections.abc import Sequence

BACKLOG = 1024
_MISSING_FAMILY = frozenset({errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT})


def listen_on(
    host: str,
    port: int,
    *,
    backlog: int = BACKLOG,
    send_buffer_bytes: int = -1,
    receive_buffer_bytes: int = -1,
) -> list[socket.socket]:
    """Listens on every address of `host`, all on one port; an empty host means all interfaces.

    A name such as localhost often has an IPv4 and an IPv6 address, and clients use either. Raises
    OSError, with the address as its filename, if the port is in use or this machine has none of the
    addresses. Port 0 selects a free port. Buffer sizes below 0 keep the system's automatic sizes;
    connections inherit the sizes.
    """
    sizes = {socket.SO_SNDBUF: send_buffer_bytes, socket.SO_RCVBUF: receive_buffer_bytes}
    opened: list[socket.socket] = []
    try:
        for family, address in _addresses(host, port):
            try:
                opened.append(_open(family, (address, port), backlog))
            except OSError as error:
                if error.errno not in _MISSING_FAMILY:
                    raise
                continue
            port = opened[0].getsockname()[1]
        for option, size in sizes.items():
            if size >= 0:
                for sock in opened:
                    sock.setsockopt(socket.SOL_SOCKET, option, size)
        if not opened:
            raise OSError(errno.EADDRNOTAVAIL, "no address of this machine", host)
    except BaseException:
        for sock in opened:
            sock.close()
        raise
    return opened


def _addresses(host: str, port: int) -> Sequence[tuple[int, str]]:
    if not host:
        if socket.has_dualstack_ipv6():
            return [(socket.AF_INET6, "::")]
        return [(socket.AF_INET, "0.0.0.0")]
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except socket.gaierror as error:
        raise OSError(error.errno, error.strerror, host) from error
    unique = dict.fromkeys((family, str(address[0])) for family, _, _, _, address in found)
    return sorted(unique, key=lambda item: item[0] != socket.AF_INET)


def _open(family: int, address: tuple[str, int], backlog: int) -> socket.socket:
    sock = socket.socket(family, socket.SOCK_STREAM)
    try:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if family == socket.AF_INET6:
            only_six = address[0] != "::"
            sock.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, only_six)
        sock.setblocking(False)
        sock.bind(address)
        sock.listen(backlog)
    except OSError as error:
        sock.close()
        raise OSError(error.errno, error.strerror, f"{address[0]}:{address[1]}") from error
    return sock
