"""SET and UNSET: what a shell has set, for the statements after it."""

from barnabas.streams.sql.catalog.relations import close_name
from barnabas.streams.sql.engine.results import Message, Result
from barnabas.streams.sql.language.errors import SqlError
from barnabas.streams.sql.language.statements import SetProperty

OFFSET_RESET, DEFAULT_RESET = "auto.offset.reset", "latest"
PROPERTIES = {OFFSET_RESET: ("earliest", "latest")}


def default_properties() -> dict[str, str]:
    return {OFFSET_RESET: DEFAULT_RESET}


def set_property(statement: SetProperty, properties: dict[str, str]) -> Result:
    """Change one of `properties`; without a value it is the default again."""
    name, value = statement.name, statement.value or DEFAULT_RESET
    if name not in PROPERTIES:
        raise SqlError(f"no property {name!r}{close_name(name, PROPERTIES)}")
    if value not in PROPERTIES[name]:
        raise SqlError(f"{name} is one of {', '.join(PROPERTIES[name])}")
    properties[name] = value
    return Message(f"{name} is {value}")
