"""A loop's timers and turns under a test's control, on a virtual clock."""

import heapq
import itertools
from types import SimpleNamespace

from barnabas.model.errors import BrokerError
from barnabas.records.reader import iter_raw
from barnabas.testing.virtual_clock import VirtualClock


class ManualLoop:
    """`schedule` and `call_soon` as the broker's parts take them; nothing runs by itself."""

    def __init__(self):
        self.clock = VirtualClock()
        self._timers = []
        self._turns = []
        self._order = itertools.count()

    def schedule(self, delay_s, callback):
        timer = _Timer(callback)
        at_ms = self.clock.monotonic_ms() + delay_s * 1000
        heapq.heappush(self._timers, (at_ms, next(self._order), timer))
        return timer

    def call_soon(self, callback):
        self._turns.append(callback)

    def turn(self):
        """Runs the callbacks that were scheduled for the next iteration."""
        turns, self._turns = self._turns, []
        for callback in turns:
            callback()

    def advance(self, ms):
        """Let time pass; timers ring on the way."""
        end = self.clock.monotonic_ms() + ms
        while self._timers and self._timers[0][0] <= end:
            at_ms, _, timer = heapq.heappop(self._timers)
            self.clock.advance(max(0, round(at_ms - self.clock.monotonic_ms())))
            if not timer.cancelled:
                timer.callback()
        self.clock.advance(end - self.clock.monotonic_ms())

    @property
    def waiting(self):
        """Timers that would ring."""
        return sum(not timer.cancelled for _, _, timer in self._timers)


class _Timer:
    def __init__(self, callback):
        self.callback = callback
        self.cancelled = False

    def cancel(self):
        self.cancelled = True


class FakePartition:
    """The part of a led partition that gates look at."""

    def __init__(self, loop, end=0, high_watermark=None):
        self.log = SimpleNamespace(
            log_start_offset=0,
            log_end_offset=end,
            high_watermark=end if high_watermark is None else high_watermark,
        )
        self.settings = SimpleNamespace(clock=loop.clock)
        self.listeners = []
        self.is_leader = True
        self.leader_epoch = 5
        self.topic_partition = ("topic", 0)

    def add_listener(self, listener):
        self.listeners.append(listener)

    def remove_listener(self, listener):
        self.listeners.remove(listener)

    def commit(self, offset):
        """Move the high watermark."""
        self.log.high_watermark = offset
        for listener in list(self.listeners):
            listener.on_high_watermark(self)


class FakeLedPartition(FakePartition):
    """Takes appends; the test moves the high watermark, unless `alone`."""

    def __init__(self, loop, *, alone=False):
        super().__init__(loop)
        self.alone = alone
        self.batches = []
        self.fail_next = None

    def append_to_leader(self, batch, header, *, acks, now_ms, origin):
        if self.fail_next is not None:
            code, self.fail_next = self.fail_next, None
            raise BrokerError(code)
        first = self.log.log_end_offset
        self.batches.append((header, iter_raw(batch, 0, header)))
        self.log.log_end_offset = first + header.last_offset_delta + 1
        if self.alone:
            self.commit(self.log.log_end_offset)
        return SimpleNamespace(first_offset=first, last_offset=self.log.log_end_offset - 1)
