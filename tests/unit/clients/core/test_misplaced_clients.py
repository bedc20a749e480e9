"""Clients that are created or sent where they cannot work say what to do instead."""

import pickle

import pytest

import barnabas
from barnabas import aio

NOWHERE = {"bootstrap_servers": "127.0.0.1:1"}


@pytest.mark.parametrize("name", ["Producer", "Consumer", "Admin", "SimpleConsumer"])
def test_a_client_is_not_pickled(name):
    text = f"{name} cannot be pickled: create it in the process that uses it"
    with getattr(barnabas, name)(**NOWHERE) as client, pytest.raises(TypeError, match=text):
        pickle.dumps(client)


@pytest.mark.parametrize("name", ["Producer", "Consumer", "Admin", "SimpleConsumer"])
async def test_an_asyncio_client_is_not_pickled(name):
    async with getattr(aio, name)(**NOWHERE) as client:
        with pytest.raises(TypeError, match="cannot be pickled: create it in the process"):
            pickle.dumps(client)


@pytest.mark.parametrize("name", ["Producer", "Consumer"])
def test_an_asyncio_client_needs_a_running_loop(name):
    text = f"no event loop is running: create barnabas.aio.{name} in a coroutine, or use barnabas."
    with pytest.raises(RuntimeError, match=text):
        getattr(aio, name)(**NOWHERE)
