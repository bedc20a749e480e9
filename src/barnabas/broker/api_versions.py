"""The ApiVersions answers, encoded once: they are derived from the list of handlers."""

from collections.abc import Iterable

from barnabas.broker.handler import Handler
from barnabas.model.error_codes import ErrorCode
from barnabas.wire.api_keys import ApiKey
from barnabas.wire.messages.api_versions import ApiVersion, ApiVersionsResponse


class ApiVersionsAnswers:
    """Bodies by version, and the ones for requests that are too new or malformed."""

    def __init__(self, handlers: Iterable[Handler]) -> None:
        listed = sorted(handlers, key=lambda handler: handler.api)
        ranges = [ApiVersion(h.api, _advertised_min(h), h.versions[1]) for h in listed]
        own = next(item for item in ranges if item.api_key == ApiKey.API_VERSIONS)
        self._bodies = {
            version: _encode(ApiVersionsResponse(0, ranges), version)
            for version in range(own.min_version, own.max_version + 1)
        }
        self._invalid = {
            version: _encode(ApiVersionsResponse(ErrorCode.INVALID_REQUEST), version)
            for version in self._bodies
        }
        # In version 0, with our range of this one API: what an older or newer client can read.
        self.too_new = _encode(ApiVersionsResponse(ErrorCode.UNSUPPORTED_VERSION, [own]), 0)

    def body(self, version: int) -> bytes:
        return self._bodies[version]

    def invalid(self, version: int) -> bytes:
        return self._invalid[version]


def _advertised_min(handler: Handler) -> int:
    return handler.versions[0] if handler.advertised_min is None else handler.advertised_min


def _encode(response: ApiVersionsResponse, version: int) -> bytes:
    return b"".join(bytes(part) for part in response.encode(version))  # type: ignore[arg-type]
