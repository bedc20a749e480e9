"""Admits the connections of a broker's listeners within the slots that they share.

A listener without room stops accepting, so that new connections wait in the system's queue, and is
called back when one closes. A surplus is taken from listeners that are not protected: idle
connections first, of those the least recently used.
"""

import heapq
from collections.abc import Collection
from typing import Protocol

from barnabas.net.connection_slots import ConnectionSlots, SlotLimits
from barnabas.net.refusal import Refusal
from barnabas.net.server_connection import ServerConnection


class Admitted(Protocol):
    """A listener, to the admission."""

    @property
    def name(self) -> str: ...

    @property
    def connections(self) -> Collection[ServerConnection]: ...

    def accept_again(self) -> None:
        """There may be room."""
        ...


class Admission:
    """Shared by listeners of one loop, which owns it."""

    def __init__(self, slots: ConnectionSlots | None = None) -> None:
        self._slots = slots or ConnectionSlots()
        self._listeners: list[Admitted] = []
        self._waiting: list[Admitted] = []

    def join(self, listener: Admitted) -> None:
        self._listeners.append(listener)

    def limit(self, limits: SlotLimits) -> None:
        """Put limits into force, also for the connections there are."""
        self._slots.limits = limits
        self._close_surplus()
        self._wake()

    def has_room(self, listener: Admitted) -> bool:
        """Whether a listener may accept."""
        return self._slots.has_room(listener.name)

    def wait_for_room(self, listener: Admitted) -> None:
        """Call a listener back when it may accept."""
        if listener not in self._waiting:
            self._waiting.append(listener)

    def welcomes(self, host: str) -> bool:
        """Whether an address may have one more connection."""
        return self._slots.welcomes(host)

    def opened(self, listener: Admitted, host: str) -> None:
        """A connection begins; it is not yet among the listener's."""
        self._slots.take(listener.name, host)
        self._close_surplus()

    def closed(self, listener: Admitted, host: str) -> None:
        """A connection has ended."""
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
        for connection in heapq.nsmallest(surplus, found, key=_worth):
            connection.refuse(Refusal.TOO_MANY_CONNECTIONS, "closed in favour of others")


def _worth(connection: ServerConnection) -> tuple[bool, int]:
    return not connection.idle, connection.last_active_ms
