"""Value types every layer shares: names, errors, configuration keys and the clock port.

Nothing here does IO, reads a clock or knows the wire.
"""
