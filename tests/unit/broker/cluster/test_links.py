"""Where brokers find each other."""

import pytest

from barnabas.broker.cluster.links import AddressBook, BrokerLink, BrokerLinks
from barnabas.model.control import Endpoint, LiveBroker
from barnabas.model.errors import UnavailableError
from barnabas.net.connection_options import Address, ConnectionOptions


def broker(number, *endpoints):
    return LiveBroker(number, tuple(Endpoint(*item) for item in endpoints))


def test_the_address_is_that_of_the_listener_between_brokers():
    book = AddressBook("INTERNAL")
    book.update([broker(1, ("PLAINTEXT", "outside", 1), ("INTERNAL", "inside", 2))])
    assert book.address(1) == Address("inside", 2)


def test_a_broker_without_that_listener_is_unknown():
    book = AddressBook("INTERNAL")
    book.update([broker(1, ("PLAINTEXT", "outside", 1))])
    with pytest.raises(UnavailableError, match="broker 1"):
        book.address(1)


def test_the_last_update_wins_and_all_brokers_are_kept():
    book = AddressBook("P")
    book.update([broker(1, ("P", "old", 1)), broker(2, ("P", "two", 2))])
    book.update([broker(1, ("P", "new", 3))])
    assert book.address(1) == Address("new", 3)
    assert book.address(2) == Address("two", 2)


async def test_a_link_to_nowhere_reports_it():
    link = BrokerLink(5, AddressBook("P"), ConnectionOptions())
    with pytest.raises(UnavailableError, match="broker 5"):
        await link.request(None)


async def test_links_are_kept_by_broker():
    links = BrokerLinks(AddressBook("P"), ConnectionOptions())
    assert links.to(1) is links.to(1)
    assert links.to(1) is not links.to(2)
    links.close()
