"""Reading bootstrap.servers."""

import pytest

from barnabas.clients.core.backoff import Backoff
from barnabas.clients.core.options import parse_address, parse_addresses
from barnabas.model.errors import ConfigError
from barnabas.net.connection_options import Address


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("localhost:9092", Address("localhost", 9092)),
        ("[::1]:9092", Address("::1", 9092)),
        ("PLAINTEXT://h:1", Address("h", 1)),
    ],
)
def test_addresses_are_read(text, expected):
    assert parse_address(text) == expected


@pytest.mark.parametrize("text", ["", "localhost", ":9092", "h:", "h:x", "h:0", "h:65536"])
def test_the_error_for_an_invalid_address_names_the_setting(text):
    with pytest.raises(ConfigError, match=r"bootstrap\.servers"):
        parse_address(text)


def test_each_address_once():
    assert len(parse_addresses(["a:1", "b:1", "a:1"])) == 2


def test_pauses_double_up_to_their_limit():
    backoff = Backoff(100, 1000)
    pauses = [backoff.next_s() for _ in range(6)]
    for pause, middle in zip(pauses, [0.1, 0.2, 0.4, 0.8, 1.0, 1.0], strict=True):
        assert middle * 0.8 <= pause <= middle * 1.2
    backoff.reset()
    assert backoff.next_s() <= 0.12
