"""Injects errors into a broker under test and records the requests it received."""

import difflib
import re
import threading
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

from barnabas.broker.error_responses import error_response
from barnabas.broker.handler import RequestContext, Result
from barnabas.model.error_codes import ErrorCode
from barnabas.net.close_reasons import CloseReason, ConnectionClosedError
from barnabas.wire.api_keys import ApiKey
from barnabas.wire.messages.metadata import MetadataResponse

REMEMBERED_REQUESTS = 10_000


class SeenRequest(NamedTuple):
    """One received request."""

    api: ApiKey
    version: int
    client_id: str | None


@dataclass(slots=True)
class InjectedFailure:
    """A planned failure; `hits` counts the requests that failed."""

    api: ApiKey
    error: ErrorCode | None
    left: int | None
    hits: int = 0


def error_named(name: str) -> ErrorCode:
    """Returns the error code with this name."""
    try:
        return ErrorCode[name.upper()]
    except KeyError:
        hint = _suggestion(name.upper(), ErrorCode.__members__)
        raise ValueError(f"unknown error code {name!r}{hint}") from None


def api_named(api: ApiKey | str) -> ApiKey:
    """Returns the API with this name, in any usual spelling.

    >>> api_named("ListOffsets"), api_named("produce")
    (<ApiKey.LIST_OFFSETS: 2>, <ApiKey.PRODUCE: 0>)
    """
    if isinstance(api, ApiKey):
        return api
    words = re.sub(r"(?<=[a-z])(?=[A-Z])|[ -]", "_", api)
    try:
        return ApiKey[words.upper()]
    except KeyError:
        hint = _suggestion(words.upper(), ApiKey.__members__)
        raise ValueError(f"unknown API {api!r}{hint}") from None


def _suggestion(name: str, known: Iterable[str]) -> str:
    close = difflib.get_close_matches(name, known, n=1)
    return f"; did you mean {close[0]!r}?" if close else ""


class FaultInjector:
    """Intercepts requests of a broker. `plan` and `heal` may be called from any thread."""

    def __init__(self) -> None:
        self.seen: deque[SeenRequest] = deque(maxlen=REMEMBERED_REQUESTS)
        self._planned: list[InjectedFailure] = []
        self._lock = threading.Lock()

    def plan(
        self, api: ApiKey | str, error: ErrorCode | str | None, times: int | None
    ) -> InjectedFailure:
        code = error_named(error) if isinstance(error, str) else error
        failure = InjectedFailure(api_named(api), code, times)
        with self._lock:
            self._planned.append(failure)
        return failure

    def heal(self) -> None:
        """Cancels all planned failures."""
        with self._lock:
            self._planned.clear()

    def __call__(
        self,
        context: RequestContext,
        request: Any,
        handle: Callable[[RequestContext, Any], Result],
    ) -> Result:
        header = context.header
        self.seen.append(SeenRequest(ApiKey(header.api_key), header.api_version, header.client_id))
        failure = self._next_failure(header.api_key) if self._planned else None
        if failure is None:
            return handle(context, request)
        if failure.error is None or getattr(request, "acks", None) == 0:
            # A request without a response can only fail by closing the connection.
            raise ConnectionClosedError(CloseReason.FAILED_UNACKNOWLEDGED, "a planned failure")
        if failure.api is ApiKey.METADATA:
            return _failed_metadata(handle(context, request), failure.error)
        return error_response(request, failure.error)

    def _next_failure(self, api_key: int) -> InjectedFailure | None:
        with self._lock:
            for failure in self._planned:
                if failure.api == api_key:
                    failure.hits += 1
                    if failure.left is not None:
                        failure.left -= 1
                        if failure.left <= 0:
                            self._planned.remove(failure)
                    return failure
        return None


async def _failed_metadata(result: object, code: ErrorCode) -> Any:
    """Sets the error for all topics; keeps the brokers, because clients cannot work without."""
    response = await result if hasattr(result, "__await__") else result
    if isinstance(response, MetadataResponse):
        for topic in response.topics:
            topic.error_code = int(code)
            topic.partitions = []
    return response
