"""Both flavours are one: the same calls, the same signatures."""

import inspect
import threading

import pytest

import barnabas.admin
from barnabas.admin import Admin, AsyncAdmin
from barnabas.model.errors import ClosedError, ConfigError

CALLS = [
    name
    for name, member in inspect.getmembers(AsyncAdmin, inspect.iscoroutinefunction)
    if not name.startswith("_") and name != "close"
]


@pytest.mark.parametrize("name", CALLS)
def test_every_call_has_its_blocking_twin(name):
    blocking, asynchronous = getattr(Admin, name), getattr(AsyncAdmin, name)
    assert not inspect.iscoroutinefunction(blocking)
    assert blocking.__doc__ == asynchronous.__doc__
    assert inspect.signature(blocking) == inspect.signature(asynchronous)


@pytest.mark.parametrize("name", CALLS)
def test_every_call_takes_a_timeout_and_says_what_it_does(name):
    call = getattr(AsyncAdmin, name)
    assert call.__doc__
    timeout = inspect.signature(call).parameters["timeout"]
    assert timeout.kind is inspect.Parameter.KEYWORD_ONLY
    assert timeout.default is None


def test_no_noun_hides_a_name_of_another():
    names = [
        name for noun in AsyncAdmin.__bases__ for name in vars(noun) if not name.startswith("__")
    ]
    assert len(names) == len(set(names))


def test_every_exported_name_is_there():
    for name in barnabas.admin.__all__:
        assert hasattr(barnabas.admin, name)


def test_a_wrong_key_is_named_and_no_thread_is_left():
    before = threading.active_count()
    with pytest.raises(ConfigError, match=r"did you mean .bootstrap\.servers."):
        Admin(bootstrap_server="localhost:9092")
    assert threading.active_count() == before


def test_closed_is_closed():
    admin = Admin(bootstrap_servers="127.0.0.1:1")
    admin.close()
    admin.close()
    with pytest.raises(ClosedError):
        admin.list_topics()
