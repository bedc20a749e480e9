"""Ports that no other program takes between the choice and the use."""

from barnabas.runtime.child_process import free_port


def unused_ports(count: int) -> list[int]:
    """Returns different ports outside the range that outgoing connections get."""
    found: set[int] = set()
    while len(found) < count:
        found.add(free_port())
    return sorted(found)
