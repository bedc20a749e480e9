"""Actions on the data of pipelines: dead letters are sent back, SQL statements are run."""

from collections.abc import Mapping
from urllib.parse import quote

from barnabas.console.actions.action import Action, ApiAction, ConsoleAddress


def resend(topic: str, body: Mapping[str, object], console: ConsoleAddress) -> ApiAction:
    """Sends letters back; `body` has the fields of the API's ResendBody.

    The texts use the console's API, because the console sends each letter back only once.
    """
    given = {key: value for key, value in body.items() if value is not None}
    path = f"/dead-letters/{quote(topic)}/resend"
    return ApiAction("Send back", "POST", path, given, console)


def run_statement(statement: str) -> Action:
    """Runs one bounded statement."""
    return Action(
        "Run",
        "POST",
        "/sql",
        {"statement": statement},
        ["sql", "--format", "json", "--no-queries", "--execute", statement],
        f"for result in engine.run({statement!r}):\n    print(result)",
        (),
        "streams.sql.engine.engine.Engine",
        "engine",
    )
