"""What kafka-configs says when it is done."""


def completed(kind: str, name: str | None) -> str:
    """
    >>> completed("topics", "orders")
    'Completed updating config for topic orders.'
    >>> completed("brokers", "")
    'Completed updating default config for brokers in the cluster.'
    """
    if name:
        return f"Completed updating config for {kind.removesuffix('s')} {name}."
    return f"Completed updating default config for {kind} in the cluster."
