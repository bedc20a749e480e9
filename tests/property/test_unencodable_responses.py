"""If a response cannot be encoded, the client gets an error, for every API.

For every served API and version, each field of the response that must not be null is null once.
The dispatcher answers with an error code where the version has one, and closes the connection
otherwise. No exception leaves it.
"""

import importlib
import logging
from types import SimpleNamespace

import pytest

from barnabas.broker.api_versions import ApiVersionsResponses
from barnabas.broker.dispatch import Dispatcher
from barnabas.broker.error_responses import contains_error
from barnabas.broker.handler import Handler
from barnabas.broker.handlers import HANDLERS
from barnabas.model.errors import LocalError
from barnabas.net.close_reasons import CloseReason
from barnabas.testing.virtual_clock import VirtualClock
from barnabas.wire.api_keys import ApiKey, request_class, response_class
from barnabas.wire.headers import RequestHeader, decode_response_header, encode_request
from barnabas.wire.message import WireStruct

CORRELATION = 7


def filled(kind, version):
    """An instance with one element in each array, at any depth."""
    module = importlib.import_module(kind.__module__)
    made = kind()
    for name, type_name, low, high, _ in kind.FIELDS:
        element = getattr(module, type_name.strip("[]"), None)
        if not low <= version <= high:
            continue
        if element is not None:
            inner = filled(element, version)
            setattr(made, name, [inner] if type_name.startswith("[") else inner)
        elif type_name.startswith("["):
            setattr(made, name, ["name"] if type_name == "[string]" else [1])
    return made


def not_nullable(item, version):
    """Pairs of a struct in the response and the name of a field that must not be null."""
    for name, type_name, low, high, nullable in item.FIELDS:
        if not low <= version <= high:
            continue
        if not nullable and type_name not in ("bool", "records"):
            yield item, name
        value = getattr(item, name)
        for inner in value if isinstance(value, list) else [value]:
            if isinstance(inner, WireStruct):
                yield from not_nullable(inner, version)


def frame_of(request, version):
    header = RequestHeader(request.API_KEY, version, CORRELATION, "client")
    parts = encode_request(header, request)
    return memoryview(bytearray(b"".join(bytes(part) for part in parts)))[4:]


class Case:
    """One API in one version, served by a handler that gives `response`."""

    def __init__(self, api, version):
        self.version = version
        self.request = filled(request_class(api), version)
        self.response = filled(response_class(api), version)
        self.refused = []
        self.deferred = []
        self.connection = SimpleNamespace(
            received_ns=0, close_with_reason=lambda reason, _: self.refused.append(reason)
        )
        handlers = [
            Handler(api, (version, version), self._handle),
            Handler(ApiKey.API_VERSIONS, (0, 4), self._handle),
        ]
        services = SimpleNamespace(api_versions=ApiVersionsResponses(handlers))
        self.later = False
        self.serve = Dispatcher(handlers, services, clock=VirtualClock())

    def _handle(self, ctx, _):
        if not self.later:
            return self.response
        self.deferred.append(ctx.defer())
        return self.deferred[-1]

    def answer(self, *, later):
        self.later = later
        self.refused.clear()
        reply = self.serve(self.connection, frame_of(self.request, self.version))
        if later:
            self.deferred.pop().respond(self.response)
            reply = reply.parts
        return reply


def check(api, version):
    case = Case(api, version)
    outcomes = set()
    for item, name in list(not_nullable(case.response, version)):
        kept = getattr(item, name)
        setattr(item, name, None)
        if not encodes(case.response, version):  # a tagged field is left out instead
            for later in (False, True):
                parts = case.answer(later=later)
                outcomes.add(outcome(api, version, parts, case.refused))
        setattr(item, name, kept)
    return outcomes


def encodes(response, version):
    try:
        response.encode(version)
    except LocalError:
        return False
    return True


def outcome(api, version, parts, refused):
    if parts is None:
        assert refused == [CloseReason.INTERNAL]
        return "closed"
    assert refused == []
    frame = memoryview(b"".join(bytes(part) for part in parts))[4:]
    correlation, position = decode_response_header(frame, api, version)
    assert correlation == CORRELATION
    assert contains_error(response_class(api).decode(frame, version, position), version)
    return "answered"


SERVED = [h for h in HANDLERS if h.api is not ApiKey.API_VERSIONS]  # that one is encoded before


@pytest.mark.parametrize("handler", SERVED, ids=[h.api.name for h in SERVED])
def test_null_in_a_field_that_must_not_be_null(handler, caplog):
    caplog.set_level(logging.CRITICAL)
    for version in range(handler.versions[0], handler.versions[1] + 1):
        outcomes = check(handler.api, version)
        # A Produce is retried by its client, which recognizes what was stored.
        expected = {"closed"} if handler.api is ApiKey.PRODUCE else {"answered"}
        assert outcomes == expected, (handler.api.name, version)


def test_the_log_has_one_line_for_many_failures(caplog):
    case = Case(ApiKey.METADATA, 10)
    case.response.topics[0].name = None
    for _ in range(100):
        case.answer(later=False)
    # On a busy machine the broker also logs that the request held the loop.
    lines = [text for text in caplog.messages if "the response to" in text]
    assert len(lines) == 1
    assert "name must not be None" in lines[0]
    assert len(lines[0]) < 500
