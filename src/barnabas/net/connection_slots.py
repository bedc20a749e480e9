"""Limits of the number of connections (KIP-402): in total, per listener, per address.

No IO: it counts, `admission` closes connections. All listeners of a broker share one instance. The
inter-broker listener is protected if clients have a separate listener: it may exceed the total
limit, and connections of other listeners are closed instead.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

NO_LIMIT = 2**31 - 1


@dataclass(frozen=True, slots=True)
class SlotLimits:
    """`of_listeners` and `of_ips` contain specific limits, by listener name and by address."""

    total: int = NO_LIMIT
    of_listeners: Mapping[str, int] = field(default_factory=dict)
    per_ip: int = NO_LIMIT
    of_ips: Mapping[str, int] = field(default_factory=dict)


class ConnectionSlots:
    """Numbers of open connections, and their limits."""

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

    def welcomes(self, host: str) -> bool:
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
