"""Settings and clocks for the producer's parts."""

import pytest

from barnabas.clients.producer.settings import ProducerSettings


class StepClock:
    def __init__(self):
        self.time = 1000

    def now_ms(self):
        return self.time

    def monotonic_ms(self):
        return self.time


@pytest.fixture
def clock():
    return StepClock()


@pytest.fixture
def settings_of():
    def make(**config):
        return ProducerSettings.parse({"bootstrap.servers": "h:9092", **config})

    return make
