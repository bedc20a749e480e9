"""Reads the metrics of a broker for tests."""

import threading
import time
import urllib.request

from prometheus_client.parser import text_string_to_metric_families


class Scrape:
    """The samples of one reading of /metrics."""

    def __init__(self, url):
        with urllib.request.urlopen(url + "/metrics", timeout=60) as reply:
            families = text_string_to_metric_families(reply.read().decode())
        self.samples = [sample for family in families for sample in family.samples]

    def __call__(self, name, **labels):
        """Returns the sum of the samples with these labels; None if there is none."""
        found = [
            sample.value
            for sample in self.samples
            if sample.name == name and labels.items() <= sample.labels.items()
        ]
        return sum(found) if found else None


def wait_for_metric(url, name, wanted, timeout_s=60.0, **labels):
    """Reads until `wanted(value)` is true, and returns the value."""
    end = time.monotonic() + timeout_s
    while True:
        value = Scrape(url)(name, **labels)
        if value is not None and wanted(value):
            return value
        assert time.monotonic() < end, f"{name}{labels} is {value}"
        threading.Event().wait(0.05)
