"""Damages encoded messages at the lengths and counts that `wire_reference` marks."""

VARINTS = (
    b"\x00",
    b"\x01",
    b"\x02",
    b"\x7f",
    b"\xff\x01",
    b"\x80\x80\x02",
    b"\xff\xff\xff\xff\x07",
    b"\xff\xff\xff\xff\x0f",
    b"\xff\xff\xff\xff\xff\x01",
    b"\x80\x80\x80\x80\x80\x80\x80",
)
INTEGERS = (-(1 << 31), -(1 << 15), -2, -1, 0, 1, 2, 100, (1 << 15) - 1, (1 << 31) - 1)
MARKERS = (0, 1, 2, 127, 128, 254, 255)
MOST_REPETITIONS = 60


def damage_mark(rng, data, mark):
    """Replace one length, count, tag or null marker by another value."""
    at, size, kind = mark
    if kind in ("length", "count"):
        limit = 1 << (8 * size - 1)
        value = max(-limit, min(limit - 1, rng.choice(INTEGERS)))
        return data[:at] + value.to_bytes(size, "big", signed=True) + data[at + size :]
    if kind == "marker":
        return data[:at] + bytes((rng.choice(MARKERS),)) + data[at + 1 :]
    return data[:at] + rng.choice(VARINTS) + data[at + size :]


def make_null(rng, data, marks):
    """Say null where a string, an array or a struct is."""
    at, size, kind = rng.choice(marks)
    null = b"\0" if kind.startswith("compact") else b"\xff" * size
    return data[:at] + null + data[at + size :]


def truncate(rng, data):
    return data[: rng.randrange(len(data) + 1)]


def replace_byte(rng, data):
    if not data:
        return data
    at = rng.randrange(len(data))
    return data[:at] + bytes((rng.randrange(256),)) + data[at + 1 :]


def insert_bytes(rng, data):
    at = rng.randrange(len(data) + 1)
    return data[:at] + rng.randbytes(rng.randrange(1, 9)) + data[at:]


def swap_fields(rng, data, marks):
    """Exchange two stretches that begin at marks."""
    starts = sorted(at for at, _, _ in marks)
    if len(starts) < 3:
        return data[::-1]
    first, middle, last = sorted(rng.sample(range(len(starts)), 3))
    a, b, c = starts[first], starts[middle], starts[last]
    return data[:a] + data[b:c] + data[a:b] + data[c:]


def repeat_field(rng, data, marks):
    """Repeat the stretch between two marks."""
    starts = sorted(at for at, _, _ in marks)
    at = rng.randrange(len(starts))
    begin = starts[at]
    end = starts[at + 1] if at + 1 < len(starts) else len(data)
    return data[:end] + data[begin:end] * rng.randrange(1, MOST_REPETITIONS) + data[end:]
