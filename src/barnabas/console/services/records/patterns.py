"""Regular expressions with a time limit.

Python's own module cannot be interrupted: a pattern such as (a+)+$ would occupy the console. The
package `regex` checks a deadline while it searches.
"""

import regex

TIME_LIMIT_S = 0.25
MAX_LENGTH = 2000


class PatternError(ValueError):
    """The pattern is invalid or took too long."""


class BoundedPattern:
    """A compiled pattern."""

    def __init__(self, text: str) -> None:
        if len(text) > MAX_LENGTH:
            raise PatternError(f"the pattern has more than {MAX_LENGTH} characters")
        try:
            self._pattern = regex.compile(text)
        except (regex.error, RecursionError, OverflowError) as error:
            raise PatternError(f"{text!r} is not a regular expression: {error}") from None

    def found_in(self, text: str) -> bool:
        """Returns whether the pattern matches a part of the text.

        Raises:
            PatternError: The search took longer than TIME_LIMIT_S.
        """
        try:
            return self._pattern.search(text, timeout=TIME_LIMIT_S, concurrent=True) is not None
        except TimeoutError:
            raise PatternError(
                f"the pattern took longer than {TIME_LIMIT_S} s for one record; simplify it"
            ) from None
