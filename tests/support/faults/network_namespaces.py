"""Hosts in separate network namespaces, on one bridge, whose links can be cut in one direction.

A cut causes no error on either side: the sender's neighbour table maps the receiver to a hardware
address that no host has, so packets are sent and lost, as behind a broken switch.
Needs root and `ip` (iproute2).
"""

import os
import shutil
import subprocess
from contextlib import suppress

NOWHERE = "02:00:00:00:00:fe"
_PREFIX = "10.213"


def reason_to_skip():
    """Why namespaces cannot be used here, or an empty string."""
    if os.name != "posix" or os.geteuid() != 0:
        return "network namespaces need root: run the test as root (sudo make test)"
    if shutil.which("ip") is None:
        return "network namespaces need the command `ip` (package iproute2)"
    name = f"bn{os.getpid()}"
    made = _ip("netns", "add", name, check=False)
    if made.returncode != 0:
        return f"network namespaces are not available: {made.stderr.strip()}"
    _ip("netns", "del", name)
    return ""


class Network:
    """A bridge in the namespace of the test, and `hosts` by name, reachable from it."""

    def __init__(self, names):
        mark = os.getpid() % 10_000
        self.cuts = 0
        self._names = list(names)
        self._bridge = f"bb{mark}"
        self._subnet = f"{_PREFIX}.{os.getpid() % 250}"
        self._namespaces = {name: f"bn{mark}-{name}" for name in names}
        self._ends = {name: f"b{mark}-{name}" for name in names}

    def address(self, name):
        return f"{self._subnet}.{self._names.index(name) + 1}"

    def command(self, name):
        """The words before a command that make it run on a host; the process id stays."""
        return ["ip", "netns", "exec", self._namespaces[name]]

    def __enter__(self):
        try:
            _ip("link", "add", self._bridge, "type", "bridge")
            _ip("addr", "add", f"{self._subnet}.254/24", "dev", self._bridge)
            _ip("link", "set", self._bridge, "up")
            for name in self._names:
                self._add(name)
        except BaseException:
            self.close()
            raise
        return self

    def _add(self, name):
        namespace, end = self._namespaces[name], self._ends[name]
        _ip("netns", "add", namespace)
        _ip("link", "add", end, "type", "veth", "peer", "name", "eth0", "netns", namespace)
        _ip("link", "set", end, "master", self._bridge, "up")
        _ip("-n", namespace, "addr", "add", f"{self.address(name)}/24", "dev", "eth0")
        _ip("-n", namespace, "link", "set", "eth0", "up")
        _ip("-n", namespace, "link", "set", "lo", "up")

    def __exit__(self, *_):
        self.close()

    def close(self):
        for name in self._names:
            _ip("netns", "del", self._namespaces[name], check=False)
            _ip("link", "del", self._ends[name], check=False)
        _ip("link", "del", self._bridge, check=False)

    def cut(self, sender, receiver):
        """From now on nothing that `sender` sends arrives at `receiver`."""
        neighbour = ["neigh", "replace", self.address(receiver), "lladdr", NOWHERE]
        _ip("-n", self._namespaces[sender], *neighbour, "dev", "eth0", "nud", "permanent")
        self.cuts += 1

    def heal(self, sender, receiver):
        neighbour = ["neigh", "del", self.address(receiver), "dev", "eth0"]
        _ip("-n", self._namespaces[sender], *neighbour, check=False)

    def connects(self, sender, receiver, port, timeout_s=0.5):
        """Whether a TCP connection can be opened."""
        probe = f"exec 3<>/dev/tcp/{self.address(receiver)}/{port}"
        with suppress(subprocess.TimeoutExpired):
            found = subprocess.run(
                [*self.command(sender), "bash", "-c", probe],
                timeout=timeout_s,
                capture_output=True,
                check=False,
            )
            return found.returncode == 0
        return False


def _ip(*arguments, check=True):
    return subprocess.run(["ip", *arguments], check=check, capture_output=True, text=True)
