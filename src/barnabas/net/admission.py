"""Admits the connections of a broker's listeners within the slots that they share.

A listener without a free slot stops accepting, so that new connections wait in the system's queue,
and is called back when a connection closes. If there are too many connections, connections of
unprotected listeners are closed: idle ones first, the least recently used before others.
"""

import heapq
from collections.abc import Collection
from typing import Protocol

from barnabas.net.connection_slots import ConnectionSlots, SlotLimits
from barnabas.net.refusal import Refusal
from barnabas.net.server_connection import ServerConnection


class Admitted(Protocol):
    """The methods of a listener that the admission uses."""

    @property
    def name(self) -> str: ...

    @property
    def connections(self) -> Collection[ServerConnection]: ...

    def accept_again(self) -> None:
        """Called when a slot may be free."""
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
        """Applies limits, also to existing connections."""
        self._slots.limits = limits
        self._close_surplus()
        self._wake()

    def has_room(self, listener: Admitted) -> bool:
        """Whether a listener may accept."""
        return self._slots.has_room(listener.name)

    def wait_for_room(self, listener: Admitted) -> None:
        """Calls the listener back when it may accept."""
        if listener not in self._waiting:
            self._waiting.append(listener)

    def welcomes(self, host: str) -> bool:
        """Whether an address may have one more connection."""
        return self._slots.welcomes(host)

    def opened(self, listener: Admitted, host: str) -> None:
        """Counts a new connection, before the listener adds it to its connections."""
        self._slots.take(listener.name, host)
        self._close_surplus()

    def closed(self, listener: Admitted, host: str) -> None:
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
        for connection in heapq.nsmallest(surplus, found, key=_worth):
            connection.refuse(
                Refusal.TOO_MANY_CONNECTIONS, "closed to free a slot: too many connections"
            )


def _worth(connection: ServerConnection) -> tuple[bool, int]:
    return not connection.idle, connection.last_active_ms
