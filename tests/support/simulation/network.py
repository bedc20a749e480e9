"""Requests between simulated brokers: delayed, lost, with a lost response, or delivered twice.

A request and its response are delivered separately, so a response can be lost after the request was
processed, and a duplicate can arrive long after both brokers have continued. Delays determine the
order of requests.
"""

import asyncio

from barnabas.model.errors import UnavailableError

CLIENT = 0
TIMEOUT_S = 0.8


class Network:
    """The connections; `cuts` has the directed pairs that are disconnected."""

    def __init__(self, dice):
        self.dice = dice
        self.cuts = set()
        self.loss = 0.0
        self.duplication = 0.0
        self.slowness = 0.0
        self.duplicated = 0
        self.lost = 0

    def heal(self):
        self.cuts.clear()
        self.loss = self.duplication = self.slowness = 0.0

    def isolate(self, broker, others, *, inbound=True, outbound=True):
        for other in others:
            if inbound:
                self.cuts.add((other, broker))
            if outbound:
                self.cuts.add((broker, other))

    async def call(self, source, target, request, timeout_s=None):
        """Runs `request(target)` on the other broker; UnavailableError if no response arrives.

        The request of a caller that gives up may still arrive.
        """
        if timeout_s is None:
            return await self._call(source, target, request)
        task = asyncio.get_running_loop().create_task(self._call(source, target, request))
        task.add_done_callback(lambda done: done.cancelled() or done.exception())
        try:
            return await asyncio.wait_for(asyncio.shield(task), timeout_s)
        except TimeoutError:
            raise UnavailableError("gave up waiting") from None

    async def _call(self, source, target, request):
        await self._travel(source, target.broker_id)
        if self.dice.random() < self.duplication:
            self.duplicated += 1
            asyncio.get_running_loop().call_later(self.dice.uniform(0, 3), target.spawn, request)
        answer = await target.serve(request)
        await self._travel(target.broker_id, source)
        return answer

    async def _travel(self, source, target):
        await asyncio.sleep(self._delay())
        if (source, target) in self.cuts or self.dice.random() < self.loss:
            self.lost += 1
            await asyncio.sleep(TIMEOUT_S)
            raise UnavailableError(f"nothing came from {target} to {source}")

    def _delay(self):
        if self.dice.random() < self.slowness:
            return self.dice.uniform(0.05, 1.5)
        return self.dice.uniform(0.0005, 0.01)
