"""A finite automaton that matches in time linear in the text, for every expression.

With a backtracking matcher, a subscriber's expression could block the coordinator. This automaton
follows sets of states and caches every step, so a second text costs one lookup per character.
"""

from collections.abc import Callable, Iterable
from typing import NamedTuple

from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BrokerError

# Repetitions multiply: (a{1000}){1000} would need a million states.
MAX_STATES = 5_000
# The cache of transitions; beyond it they are computed again.
_MAX_REMEMBERED = 20_000
CharTest = Callable[[str], bool]


class NfaFragment(NamedTuple):
    """A part of the automaton with one entry and one exit."""

    start: int
    end: int


class Automaton:
    """States are numbers. The parser builds it; afterwards only `matches` uses it."""

    __slots__ = ("_at_end", "_at_start", "_free", "_remembered", "_steps")

    def __init__(self) -> None:
        self._free: list[list[int]] = []  # transitions that read nothing
        self._steps: list[tuple[CharTest, int] | None] = []
        self._at_start: dict[int, int] = {}  # transitions allowed only before the first character
        self._at_end: dict[int, int] = {}  # transitions allowed only after the last character
        self._remembered: dict[tuple[frozenset[int], str], frozenset[int]] = {}

    # Building

    def empty(self) -> NfaFragment:
        state = self._new_state()
        return NfaFragment(state, state)

    def char(self, test: CharTest) -> NfaFragment:
        start, end = self._new_state(), self._new_state()
        self._steps[start] = (test, end)
        return NfaFragment(start, end)

    def text_start(self) -> NfaFragment:
        start, end = self._new_state(), self._new_state()
        self._at_start[start] = end
        return NfaFragment(start, end)

    def text_end(self) -> NfaFragment:
        start, end = self._new_state(), self._new_state()
        self._at_end[start] = end
        return NfaFragment(start, end)

    def sequence(self, first: NfaFragment, second: NfaFragment) -> NfaFragment:
        self._free[first.end].append(second.start)
        return NfaFragment(first.start, second.end)

    def choice(self, options: Iterable[NfaFragment]) -> NfaFragment:
        start, end = self._new_state(), self._new_state()
        for option in options:
            self._free[start].append(option.start)
            self._free[option.end].append(end)
        return NfaFragment(start, end)

    def optional(self, inner: NfaFragment) -> NfaFragment:
        return self.choice([inner, self.empty()])

    def star(self, inner: NfaFragment) -> NfaFragment:
        loop_state = self._new_state()
        self._free[loop_state].append(inner.start)
        self._free[inner.end].append(loop_state)
        return NfaFragment(loop_state, loop_state)

    def _new_state(self) -> int:
        if len(self._free) >= MAX_STATES:
            raise BrokerError(ErrorCode.INVALID_REGULAR_EXPRESSION, "the expression is too large")
        self._free.append([])
        self._steps.append(None)
        return len(self._free) - 1

    # Matching

    def matches(self, whole: NfaFragment, text: str) -> bool:
        """Whether the automaton reads all of `text` from start to end."""
        states = self._closure([whole.start], at_start=True, at_end=not text)
        for char in text:
            states = self._advance(states, char)
            if not states:
                return False
        final = states if not text else self._closure(states, at_start=False, at_end=True)
        return whole.end in final

    def _advance(self, states: frozenset[int], char: str) -> frozenset[int]:
        known = self._remembered.get((states, char))
        if known is None:
            steps = (self._steps[state] for state in states)
            reached = [step[1] for step in steps if step is not None and step[0](char)]
            known = self._closure(reached, at_start=False, at_end=False)
            if len(self._remembered) < _MAX_REMEMBERED:
                self._remembered[states, char] = known
        return known

    def _closure(self, states: Iterable[int], *, at_start: bool, at_end: bool) -> frozenset[int]:
        """Returns all states that are reachable without reading."""
        seen = set(states)
        work = list(seen)
        while work:
            state = work.pop()
            following = list(self._free[state])
            if at_start and state in self._at_start:
                following.append(self._at_start[state])
            if at_end and state in self._at_end:
                following.append(self._at_end[state])
            fresh = [one for one in following if one not in seen]
            seen.update(fresh)
            work += fresh
        return frozenset(seen)
