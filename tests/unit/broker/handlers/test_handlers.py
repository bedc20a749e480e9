"""The list of handlers is complete, has no duplicates, and names versions that exist."""

import importlib
import pkgutil

import pytest

from barnabas.broker import handlers
from barnabas.broker.api_versions import ApiVersionsResponses
from barnabas.broker.handlers import HANDLERS
from barnabas.wire.api_keys import request_class, response_class
from barnabas.wire.messages.api_versions import ApiVersionsResponse


def test_every_handler_of_every_module_is_listed_once():
    functions = [
        value
        for info in pkgutil.iter_modules(handlers.__path__)
        for name, value in vars(importlib.import_module(f"{handlers.__name__}.{info.name}")).items()
        if name.startswith("handle_")
    ]
    assert {handler.handle for handler in HANDLERS} == set(functions)
    assert len(HANDLERS) == len(functions) == len({handler.api for handler in HANDLERS})


@pytest.mark.parametrize("handler", HANDLERS, ids=lambda handler: handler.api.name)
def test_each_function_has_the_name_of_its_api(handler):
    assert handler.handle.__name__ == f"handle_{handler.api.name.lower()}"


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
