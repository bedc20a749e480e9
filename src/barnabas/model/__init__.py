"""Value types that all layers share: names, errors, configuration keys and the clock protocol.

This package does no IO, reads no clock and does not depend on the wire protocol.
"""
