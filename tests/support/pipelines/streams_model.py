"""A model of the expected results of streams and tables, in plain Python, by micro-batch.

A round is the rows of one micro-batch of a topic. `lag` is how many rounds pass before time that
was seen closes windows: Spark's own operators judge late rows by the time of the round before
last and close windows at the end of the next round; ours judge by the round before, and close at
once.
"""

from collections import defaultdict
from dataclasses import dataclass, field
from datetime import UTC, datetime

BEGIN = (int(datetime.now(tz=UTC).timestamp()) // 3600 - 24) * 3_600_000
"""Times in tests are milliseconds after this: full hours, and young enough to be kept."""


@dataclass(frozen=True, slots=True)
class Row:
    """A row of a test topic: `case` is its key; `v` None is a tombstone."""

    case: str
    v: int | None
    time: int
    other: str | None = None


def spans(time, size, advance):
    """Windows of a time: (start, end)."""
    last = time - time % advance
    return [(s, s + size) for s in range(last, time - size, -advance)]


@dataclass(slots=True)
class Told:
    """The results of a windowed aggregate: changes in order, and late rows."""

    changes: list = field(default_factory=list)
    late: list = field(default_factory=list)

    @property
    def table(self):
        found = {}
        for key, rows in self.changes:
            found.pop(key, None)
            if rows is not None:
                found[key] = rows
        return found


def newest_times(rounds):
    """The newest time of the rounds before each round, and after the last."""
    newest, found = None, [None]
    for rows in rounds:
        times = [row.time for row in rows]
        newest = max([*times, *([] if newest is None else [newest])], default=None)
        found.append(newest)
    return found


def passed(end, grace, newest):
    return newest is not None and end + grace <= newest


def fixed_windows(rounds, size, advance, grace, *, final, lag):
    """Tumbling and hopping windows: keys (case, start, end), values the rows."""
    newest = newest_times(rounds)
    state, told = {}, Told()
    steps = [*rounds, []] if lag else rounds
    for number, rows in enumerate(steps):
        late_by = newest[max(number - lag, 0)]
        touched = set()
        for row in rows:
            open_spans = [
                s for s in spans(row.time, size, advance) if not passed(s[1], grace, late_by)
            ]
            if not open_spans:
                told.late.append(row)
            for span in open_spans:
                state.setdefault((row.case, *span), []).append(row)
                touched.add((row.case, *span))
        if not final:
            told.changes.extend((key, list(state[key])) for key in sorted(touched))
        close_by = newest[number] if lag else newest[number + 1]
        for key in [key for key in state if passed(key[2], grace, close_by)]:
            rows = state.pop(key)
            if final:
                told.changes.append((key, rows))
    return told


def session_windows(rounds, gap, grace, *, final, lag):
    """Sessions: keys (case, start, end); a change that swallows a session deletes it."""
    newest = newest_times(rounds)
    state, told = defaultdict(list), Told()
    steps = [*rounds, []] if lag else rounds
    for number, rows in enumerate(steps):
        late_by = newest[max(number - lag, 0)]
        before = {key for case in state for key in _session_keys(case, state[case])}
        for row in rows:
            if passed(row.time + gap, grace, late_by):
                told.late.append(row)
            else:
                _put(state[row.case], row, gap)
        if not final:
            after = {(case, s, e): list(rows) for case in state for s, e, rows in state[case]}
            told.changes.extend((key, None) for key in sorted(before - set(after)))
            told.changes.extend(sorted(after.items(), key=lambda item: item[0]))
        close_by = newest[number] if lag else newest[number + 1]
        for case, sessions in state.items():
            for session in [s for s in sessions if passed(s[1], grace, close_by)]:
                sessions.remove(session)
                if final:
                    told.changes.append(((case, session[0], session[1]), session[2]))
    return told


def _session_keys(case, sessions):
    return [(case, start, end) for start, end, _ in sessions]


def _put(sessions, row, gap):
    start, end, rows = row.time, row.time + gap, [row]
    for session in [s for s in sessions if s[0] <= end and start <= s[1]]:
        sessions.remove(session)
        start, end = min(start, session[0]), max(end, session[1])
        rows = [*session[2], *rows]
    sessions.append((start, end, rows))


def sliding_windows(rounds, size, grace):
    """Emitted on change: keys (case, end), values the rows in (end - size, end]."""
    newest = newest_times(rounds)
    kept, told = defaultdict(list), Told()
    for number, rows in enumerate(rounds):
        late_by = newest[number]
        fresh = set()
        for row in rows:
            if passed(row.time + size, grace, late_by):
                told.late.append(row)
            else:
                kept[row.case].append(row)
                fresh.add(row.case)
        for case in sorted(fresh):
            for end in sorted({row.time for row in kept[case]}):
                if not passed(end, grace, late_by):
                    inside = [r for r in kept[case] if end - size < r.time <= end]
                    told.changes.append(((case, end), inside))
    return told


def folded(rounds):
    """A topic read as a table: the last value of each key."""
    found = {}
    for rows in rounds:
        for row in rows:
            found.pop(row.case, None)
            if row.v is not None:
                found[row.case] = row
    return found


def stream_table(stream_rounds, table_rounds, on):
    """(stream row, table row or None): the table as it was at the row's time. Changes of a key
    count in their order, from the newest time among them so far; before a row of the same time."""
    table, found = {}, []
    for stream, changes in zip(stream_rounds, table_rounds, strict=True):
        history = defaultdict(list)
        for row in changes:
            since = max([row.time, *(time for time, _ in history[row.case])])
            history[row.case].append((since, row))
        for row in stream:
            if row.v is None:
                continue  # a stream's row without a value has nothing to join by
            met = [change for since, change in history[on(row)] if since <= row.time]
            known = met[-1] if met else table.get(on(row))
            found.append((row, known if known and known.v is not None else None))
        for row in changes:
            table[row.case] = row
    return found


def near_pairs(left_rounds, right_rounds, before, after):
    """Pairs of two streams by key and time, when nothing is late."""
    lefts = [row for rows in left_rounds for row in rows]
    rights = [row for rows in right_rounds for row in rows]
    return [
        (a, b)
        for a in lefts
        for b in rights
        if a.case == b.case and a.time - before <= b.time <= a.time + after
    ]
