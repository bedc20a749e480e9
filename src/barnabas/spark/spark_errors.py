"""Short reasons from Spark's exceptions, whose texts have pages of plans and stack traces."""


def short_reason(error: BaseException) -> str:
    """The last error of this package in the text of an exception, or else its first line."""
    lines = [line.strip() for line in str(error).splitlines()]
    present = [line for line in lines if line]
    own = [line for line in present if line.startswith("barnabas.") and ": " in line]
    if own:
        return own[-1].partition(": ")[2]
    return present[0] if present else repr(error)
