"""Texts that services and pages make alike."""


def counted(number: int, noun: str, plural: str | None = None) -> str:
    """Returns a number with its noun.

    >>> counted(1, "record"), counted(1200, "record"), counted(2, "match", "matches")
    ('1 record', '1,200 records', '2 matches')
    """
    word = noun if number == 1 else plural or f"{noun}s"
    return f"{number:,} {word}"
