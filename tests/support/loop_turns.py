"""Counts the turns of the event loop, to see whether long work is divided into slices."""

import asyncio
from collections import Counter
from contextlib import contextmanager


class LoopTurns:
    """The number of the loop's current turn, while the block of `counted_turns` runs."""

    def __init__(self):
        self.number = 0

    def of_calls(self, monkeypatch, owner, name):
        """Returns how many calls of a function of `owner` each turn had; filled while it runs."""
        original, seen = getattr(owner, name), Counter()

        def counting(*arguments, **keywords):
            seen[self.number] += 1
            return original(*arguments, **keywords)

        monkeypatch.setattr(owner, name, counting)
        return seen


@contextmanager
def counted_turns():
    loop, turns = asyncio.get_running_loop(), LoopTurns()

    def turn():
        nonlocal handle
        turns.number += 1
        handle = loop.call_soon(turn)

    handle = loop.call_soon(turn)
    try:
        yield turns
    finally:
        handle.cancel()
