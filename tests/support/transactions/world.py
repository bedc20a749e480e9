"""A virtual clock, an event queue and a bad network, all from one seed.

Everything that happens in a transaction simulation is an event of this world, so a run is a pure
function of its seed and a crash can be placed before any event by its number.
"""

import heapq
import itertools
import random
from collections.abc import Callable
from typing import Any

Respond = Callable[[Any], None]
CALL_TIMEOUT_MS = 300


class World:
    """Time, chance and messages.

    `late` lets a message arrive long after its sender has given it up; a message of a real
    connection can do that when the connection is lost and opened again. Producers of transaction
    version 2 must survive it; before version 2 that is exactly what KAFKA-17754 could not.
    """

    def __init__(self, seed: int, *, late: bool, faults: float = 0.1) -> None:
        self.rng = random.Random(seed)
        self.now_ms = 0
        self.late = late
        self.faults = faults
        self.events = 0
        self.before_event: Callable[[int], None] = lambda _: None
        self._queue: list[tuple[int, int, Callable[[], None]]] = []
        self._order = itertools.count()

    def after(self, delay_ms: int, action: Callable[[], None]) -> None:
        heapq.heappush(self._queue, (self.now_ms + delay_ms, next(self._order), action))

    def chance(self, factor: float = 1.0) -> bool:
        """Whether a fault strikes."""
        return self.rng.random() < self.faults * factor

    def heal(self) -> None:
        """From now on nothing is lost, late or doubled."""
        self.faults = 0.0

    def run_until(self, end_ms: int) -> None:
        while self._queue and self._queue[0][0] <= end_ms:
            self.now_ms, _, action = heapq.heappop(self._queue)
            self.events += 1
            self.before_event(self.events)
            action()
        self.now_ms = max(self.now_ms, end_ms)

    def call(
        self, serve: Callable[[Respond], None], answered: Respond, *, every_answer: bool = False
    ) -> None:
        """A request and its response; `answered` is called once with the response, or None after a
        timeout.

        With `every_answer` it is also called for duplicate responses and those after the timeout.
        """
        exchange = _Exchange(answered, every_answer)
        copies = 2 if self.chance() else 1
        for _ in range(copies):
            if not self.chance():
                respond = self._reply_path(exchange)
                self.after(self._delay(), lambda respond=respond: serve(respond))
        self.after(CALL_TIMEOUT_MS, lambda: exchange.settle(None))

    def _reply_path(self, exchange: "_Exchange") -> Respond:
        def respond(reply: Any) -> None:
            if not self.chance():
                self.after(self._delay(), lambda: exchange.settle(reply))

        return respond

    def _delay(self) -> int:
        if self.late and self.chance():
            return self.rng.randrange(CALL_TIMEOUT_MS, 10 * CALL_TIMEOUT_MS)
        return self.rng.randrange(1, 20)


class _Exchange:
    def __init__(self, answered: Respond, every_answer: bool) -> None:
        self._answered = answered
        self._every_answer = every_answer
        self._settled = False

    def settle(self, reply: Any) -> None:
        if not self._settled or (self._every_answer and reply is not None):
            self._settled = True
            self._answered(reply)
