"""Input elements that several dialogs use, and the parsing of their values."""

from nicegui import ui


def number_field(label: str, hint: str = "") -> ui.number:
    """A field for a whole number; an empty field is None."""
    field = ui.number(label, min=1, precision=0).props("outlined dense").classes("full-width")
    return field.props(f'hint="{hint}"') if hint else field


def text_field(label: str, hint: str = "") -> ui.input:
    field = ui.input(label).props("outlined dense").classes("full-width")
    return field.props(f'hint="{hint}"') if hint else field


def whole(value: float | None) -> int | None:
    """Returns the value of a number field as an int.

    >>> whole(3.0), whole(None)
    (3, None)
    """
    return None if value is None else int(value)


def parse_configs(text: str | None) -> dict[str, str]:
    """Parses lines of KEY=VALUE; raises ValueError for the user.

    >>> parse_configs("retention.ms=1000\\n\\ncleanup.policy = compact")
    {'retention.ms': '1000', 'cleanup.policy': 'compact'}
    """
    found: dict[str, str] = {}
    for line in (text or "").splitlines():
        if not line.strip():
            continue
        key, equals, value = line.partition("=")
        if not equals or not key.strip():
            raise ValueError(f"{line.strip()!r} must look like KEY=VALUE")
        found[key.strip()] = value.strip()
    return found
