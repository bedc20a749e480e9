"""For tests of your own: a real broker in process, clocks and file systems you control."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from barnabas.testing.broker import Broker

__all__ = ["Broker"]


def __getattr__(name: str) -> object:
    if name == "Broker":
        from barnabas.testing.broker import Broker

        return Broker
    raise AttributeError(name)
