"""The list of handlers: complete, without doubles, within what the messages know."""

import pkgutil

import pytest

from barnabas.broker import handlers
from barnabas.broker.api_versions import ApiVersionsResponses
from barnabas.broker.handlers import HANDLERS
from barnabas.wire.messages.api_versions import ApiVersionsResponse
from barnabas.wire.registry import request_class, response_class


def test_every_module_is_listed_once():
    modules = {info.name for info in pkgutil.iter_modules(handlers.__path__)}
    assert sorted(handler.api.name.lower() for handler in HANDLERS) == sorted(modules)


@pytest.mark.parametrize("handler", HANDLERS, ids=lambda handler: handler.api.name)
def test_the_versions_served_are_versions_that_exist(handler):
    low, high = handler.versions
    for message in (request_class(int(handler.api)), response_class(int(handler.api))):
        assert message.MIN_VERSION <= low <= high <= message.MAX_VERSION


@pytest.mark.parametrize("version", range(5))
def test_api_versions_tells_the_list(version):
    body = ApiVersionsResponses(HANDLERS).body(version)
    told = ApiVersionsResponse.decode(memoryview(body), version)
    assert [item.api_key for item in told.api_keys] == sorted(int(h.api) for h in HANDLERS)
