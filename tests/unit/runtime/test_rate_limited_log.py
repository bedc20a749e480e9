"""One line per period and key, with the number of suppressed lines."""

import logging

from barnabas.runtime.rate_limited_log import RateLimitedLog


class StepClock:
    def __init__(self):
        self.time = 0

    def now_ms(self):
        return self.time

    def monotonic_ms(self):
        return self.time


def test_repeats_are_counted_not_logged(caplog):
    clock = StepClock()
    log = RateLimitedLog(logging.getLogger("barnabas.test"), clock, period_ms=1000)
    with caplog.at_level(logging.INFO, "barnabas.test"):
        for _ in range(5):
            log.warning("bad", "peer %s sent nonsense", "1.2.3.4")
        clock.time = 1000
        log.warning("bad", "peer %s sent nonsense", "1.2.3.4")
    assert caplog.messages == [
        "peer 1.2.3.4 sent nonsense",
        "peer 1.2.3.4 sent nonsense (and 4 more like it)",
    ]


def test_keys_are_apart_and_bounded(caplog):
    log = RateLimitedLog(logging.getLogger("barnabas.test"), StepClock(), max_keys=2)
    with caplog.at_level(logging.INFO, "barnabas.test"):
        for key in ("a", "b", "c", "a"):
            log.info(key, key)
    assert caplog.messages == ["a", "b", "c", "a"]
