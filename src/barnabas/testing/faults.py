"""Errors on purpose: which request fails next, with what, how often; and what was asked so far."""

import difflib
import re
import threading
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

from barnabas.broker.error_responses import error_response
from barnabas.broker.handler import RequestContext, Result
from barnabas.model.error_codes import ErrorCode
from barnabas.net.connection_ports import ConnectionClosedError
from barnabas.net.refusal import Refusal
from barnabas.wire.api_keys import ApiKey
from barnabas.wire.messages.metadata import MetadataResponse

REMEMBERED_REQUESTS = 10_000


class SeenRequest(NamedTuple):
    """One request as it arrived."""

    api: ApiKey
    version: int
    client_id: str | None


@dataclass(slots=True)
class Failure:
    """A planned failure; `hits` counts the requests it has struck."""

    api: ApiKey
    error: ErrorCode | None
    left: int | None
    hits: int = 0


def error_named(name: str) -> ErrorCode:
    """An error code by Kafka's name of it."""
    try:
        return ErrorCode[name.upper()]
    except KeyError:
        close = difflib.get_close_matches(name.upper(), ErrorCode.__members__, n=1)
        hint = f"; did you mean {close[0]!r}?" if close else ""
        raise ValueError(f"there is no error called {name!r}{hint}") from None


def api_named(api: ApiKey | str) -> ApiKey:
    """An API by its name in any usual spelling.

    >>> api_named("ListOffsets"), api_named("produce")
    (<ApiKey.LIST_OFFSETS: 2>, <ApiKey.PRODUCE: 0>)
    """
    if isinstance(api, ApiKey):
        return api
    words = re.sub(r"(?<=[a-z])(?=[A-Z])|[ -]", "_", api)
    try:
        return ApiKey[words.upper()]
    except KeyError:
        raise ValueError(f"there is no API called {api!r}") from None


class FaultInjector:
    """The interceptor of a broker under test: planned from any thread, asked on its loop."""

    def __init__(self) -> None:
        self.seen: deque[SeenRequest] = deque(maxlen=REMEMBERED_REQUESTS)
        self._planned: list[Failure] = []
        self._lock = threading.Lock()

    def plan(self, api: ApiKey | str, error: ErrorCode | str | None, times: int | None) -> Failure:
        code = error_named(error) if isinstance(error, str) else error
        failure = Failure(api_named(api), code, times)
        with self._lock:
            self._planned.append(failure)
        return failure

    def heal(self) -> None:
        """Forget every planned failure."""
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
        failure = self._strike(header.api_key) if self._planned else None
        if failure is None:
            return handle(context, request)
        if failure.error is None or getattr(request, "acks", None) == 0:
            # Without an answer there is no other way to say it.
            raise ConnectionClosedError(Refusal.FAILED_UNACKNOWLEDGED, "a planned failure")
        if failure.api is ApiKey.METADATA:
            return _spoilt_metadata(handle(context, request), failure.error)
        return error_response(request, failure.error)

    def _strike(self, api_key: int) -> Failure | None:
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


async def _spoilt_metadata(result: Any, code: ErrorCode) -> Any:
    """Brokers as they are, for without them no client goes on; the topics failed."""
    response = await result if hasattr(result, "__await__") else result
    if isinstance(response, MetadataResponse):
        for topic in response.topics:
            topic.error_code = int(code)
            topic.partitions = []
    return response
