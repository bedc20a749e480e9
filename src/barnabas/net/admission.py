"""Admits the connections of a broker's listeners within the slots that they share (KIP-402).

A listener without a free slot stops accepting, so that new connections wait in the system's queue,
and is called back when a connection closes. If there are too many connections, connections of
unprotected listeners are closed: idle ones first, the least recently used before others.
"""

import heapq
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from barnabas.net.close_reasons import CloseReason
from barnabas.net.server_connection import ServerConnection

NO_LIMIT = 2**31 - 1


@dataclass(frozen=True, slots=True)
class SlotLimits:
    """Limits of open connections: in total, per listener and per address.

    `of_listeners` and `of_ips` contain specific limits, by listener name and by address.
    """

    total: int = NO_LIMIT
    of_listeners: Mapping[str, int] = field(default_factory=dict)
    per_ip: int = NO_LIMIT
    of_ips: Mapping[str, int] = field(default_factory=dict)


class ConnectionSlots:
    """Numbers of open connections, and their limits.

    No IO: it counts, `ConnectionAdmission` closes connections. All listeners of a broker share one
    instance. The inter-broker listener is protected if clients have a separate listener: it may
    exceed the total limit, and connections of other listeners are closed instead.
    """

    def __init__(self, limits: SlotLimits | None = None, protected: str | None = None) -> None:
        """`protected` is the name of a listener."""
        self.limits = limits or SlotLimits()
        self.protected = protected
        self._total = 0
        self._of_listeners: Counter[str] = Counter()
        self._of_ips: Counter[str] = Counter()

    def has_room(self, listener: str) -> bool:
        """Whether a listener may accept; without a specific limit, the total limit applies."""
        limits = self.limits
        if self._of_listeners[listener] >= limits.of_listeners.get(listener, limits.total):
            return False
        return listener == self.protected or self._total < limits.total

    def has_slot_for(self, host: str) -> bool:
        """Whether an address may open one more connection."""
        return self._of_ips[host] < self.limits.of_ips.get(host, self.limits.per_ip)

    def take(self, listener: str, host: str) -> None:
        self._total += 1
        self._of_listeners[listener] += 1
        self._of_ips[host] += 1

    def give_back(self, listener: str, host: str) -> None:
        self._total -= 1
        self._of_listeners[listener] -= 1
        self._of_ips[host] -= 1
        if not self._of_ips[host]:
            del self._of_ips[host]

    @property
    def surplus(self) -> int:
        """Returns the number of connections above the total limit.

        It is positive after the limit was lowered, or after the protected listener accepted.
        """
        return max(0, self._total - self.limits.total)


class AdmittingListener(Protocol):
    """The methods of a listener that the admission uses."""

    @property
    def name(self) -> str: ...

    @property
    def connections(self) -> Collection[ServerConnection]: ...

    def accept_again(self) -> None:
        """Accepts connections again; called when a slot may be free."""
        ...


class ConnectionAdmission:
    """Counts connections against the limits of listeners and broker (KIP-402).

    Shared by listeners of one loop, which owns it.
    """

    def __init__(self, slots: ConnectionSlots | None = None) -> None:
        self._slots = slots or ConnectionSlots()
        self._listeners: list[AdmittingListener] = []
        self._waiting: list[AdmittingListener] = []

    def join(self, listener: AdmittingListener) -> None:
        self._listeners.append(listener)

    def limit(self, limits: SlotLimits) -> None:
        """Applies limits, also to existing connections."""
        self._slots.limits = limits
        self._close_surplus()
        self._wake()

    def has_room(self, listener: AdmittingListener) -> bool:
        """Whether a listener may accept."""
        return self._slots.has_room(listener.name)

    def wait_for_room(self, listener: AdmittingListener) -> None:
        """Calls the listener back when it may accept."""
        if listener not in self._waiting:
            self._waiting.append(listener)

    def has_slot_for(self, host: str) -> bool:
        """Whether an address may have one more connection."""
        return self._slots.has_slot_for(host)

    def opened(self, listener: AdmittingListener, host: str) -> None:
        """Counts a new connection, before the listener adds it to its connections."""
        self._slots.take(listener.name, host)
        self._close_surplus()

    def closed(self, listener: AdmittingListener, host: str) -> None:
        """Removes a closed connection from the count."""
        self._slots.give_back(listener.name, host)
        self._wake()

    def _wake(self) -> None:
        ready = [listener for listener in self._waiting if self.has_room(listener)]
        for listener in ready:
            self._waiting.remove(listener)
            listener.accept_again()

    def _close_surplus(self) -> None:
        surplus = self._slots.surplus
        if not surplus:
            return
        found = [
            connection
            for listener in self._listeners
            if listener.name != self._slots.protected
            for connection in listener.connections
        ]
        for connection in heapq.nsmallest(surplus, found, key=_closing_order):
            connection.close_with_reason(
                CloseReason.TOO_MANY_CONNECTIONS, "closed to free a slot: too many connections"
            )


def _closing_order(connection: ServerConnection) -> tuple[bool, int]:
    """Idle connections are closed first, then those that were active the longest time ago."""
    return not connection.idle, connection.last_active_ms
