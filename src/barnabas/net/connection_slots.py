"""How many connections there may be (KIP-402): in all, on each listener, from each address.

Pure: it counts and answers, `admission` acts. All listeners of a broker share one. The listener of
the brokers themselves, when there is another one for clients, is protected: it may go over the
limit in all, and leaves a surplus that others have to give up.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

NO_LIMIT = 2**31 - 1


@dataclass(frozen=True, slots=True)
class SlotLimits:
    """`of_listeners` and `of_ips` have those with a limit of their own, by name and address."""

    total: int = NO_LIMIT
    of_listeners: Mapping[str, int] = field(default_factory=dict)
    per_ip: int = NO_LIMIT
    of_ips: Mapping[str, int] = field(default_factory=dict)


class ConnectionSlots:
    """The connections there are, and the limits on them."""

    def __init__(self, limits: SlotLimits | None = None, protected: str | None = None) -> None:
        """`protected` is a listener's name."""
        self.limits = limits or SlotLimits()
        self.protected = protected
        self._total = 0
        self._of_listeners: Counter[str] = Counter()
        self._of_ips: Counter[str] = Counter()

    def has_room(self, listener: str) -> bool:
        """Whether a listener may take one more; a listener without a limit has that of all."""
        limits = self.limits
        if self._of_listeners[listener] >= limits.of_listeners.get(listener, limits.total):
            return False
        return listener == self.protected or self._total < limits.total

    def welcomes(self, host: str) -> bool:
        """Whether an address may have one more."""
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
        """How many are open beyond the limit in all: it was lowered, or a protected one came."""
        return max(0, self._total - self.limits.total)
