"""Errors of the authentication exchanges."""

from barnabas.model.errors import RemoteError


class AuthenticationError(RemoteError):
    """The peer did not prove who it is, or broke the exchange.

    The text is for our log: it names the reason, never what the peer sent. What the peer is told
    is the same for every reason, so that nobody learns which user names exist.
    """
